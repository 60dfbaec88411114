// The board: memory that `mend run` shares with the processes of its machine. It is a file beside the status file
// (base/telemetry/job_status.hpp). Each process keeps a slot of it up to date, so that `mend run` sees the state of
// each process without asking, even of a process that hangs, is stopped, or is dead. In the other direction, the board
// holds the requests to the job (framework/commits/outside_requests.hpp).
//
//   head   requests: leave (why), writes (how many), looks    written by mend run
//   slot   process, rank, epoch, version, memory, place       written by its process, read by mend run
//   slot   ...
//   slot   the same of a process on another node              written by a process of this one
//
// On another node, or without a launcher, the file does not exist. A process there writes into a slot of its own that
// only it reads. When `mend run` wants to know the state of processes on other nodes, it counts up `looks`; the control
// thread of a process of its node asks them (detector/status/status_relay.hpp), and writes the answers into slots from
// the end of the board. All words are atomic; each has one writer at a time.

#pragma once

#include "base/ids.hpp"
#include "base/telemetry/activity.hpp"
#include "base/telemetry/disk_use.hpp"
#include "base/telemetry/place.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace mend::board {

inline constexpr const char* file_name = "board";

/// The reason why a job is asked to leave. If there are two, the higher one counts.
enum class Leave : std::uint32_t { no, time_limit, signal_to_rank, signal_to_launcher, stop, launcher };
/// Returns a text like "its time limit is near".
std::string_view describe(Leave why);

struct Requests {
  std::atomic<std::uint32_t> leave{0};   ///< a Leave
  std::atomic<std::uint32_t> writes{0};  ///< how many times a version on disk was requested
  std::atomic<std::uint32_t> looks{0};   ///< how many times the state of processes on other nodes was requested
};

/// The state that a process publishes. The rank of a spare is `none`.
struct Slot {
  static constexpr std::int32_t none = -1;
  std::atomic<std::int32_t> pid{0};  ///< 0: the slot is free
  std::atomic<std::int32_t> process{none};
  std::atomic<std::int32_t> rank{none};
  std::atomic<std::uint32_t> epoch{0};
  std::atomic<std::uint64_t> version{0};       ///< the last version committed, or restored before the last commit_due()
  std::atomic<std::int64_t> committed_at{0};   ///< on Clock, in microseconds; 0: never
  std::atomic<std::uint64_t> disk_version{0};  ///< the newest version that it knows to be on disk
  std::atomic<std::uint64_t> store_bytes{0};   ///< of all buffers of the store
  std::atomic<std::uint64_t> place{0};         ///< PackedWord: a Place, and the microseconds on Clock
  std::atomic<std::uint64_t> activity{0};      ///< PackedWord: an MpiCall, and the moves
  std::atomic<std::uint64_t> heartbeats{0};    ///< how many it has sent to its observer, and received from any process
  std::atomic<DiskUse> disk{DiskUse::none};
  std::atomic<std::uint8_t> asks_others{0};    ///< its control thread runs, and answers looks
  std::atomic<std::uint8_t> heeds_sigterm{0};  ///< --mend-on-term checkpoint: SIGTERM is a request to leave
};

/// The state of a process on another node, from its last answer.
struct SlotElsewhere : Slot {
  std::atomic<std::uint8_t> is_taken{0};
  std::atomic<std::uint8_t> is_dead{0};
  std::atomic<std::uint32_t> answered{0};  ///< the look that it has answered; 0: none yet
  std::atomic<std::uint64_t> resident_bytes{0};
  std::array<std::atomic<char>, 64> machine{};  ///< the name of its node, cut off if it is longer
};

/// The place of a process.
struct Whereabouts {
  Place place = Place::none;
  std::chrono::microseconds since{};  ///< on Clock
  MpiCall call = MpiCall::none;
};
Whereabouts whereabouts(const Slot& slot);
void set_whereabouts(Slot& slot, const Whereabouts& now);

// --- in a process of the job ---------------------------------------------------------------------------------------

/// Takes a slot on the board beside `MEND_STATUS_FILE`, if there is one. Called once, before main.
void join();
/// Returns this process's slot. Any thread, at any time.
Slot& mine();
/// Returns the requests to this job. Any thread.
const Requests& requests();

/// Returns the number of a look for which this process, and no other one, is to ask the processes on other nodes;
/// nothing if there is none. Any thread.
std::optional<std::uint32_t> take_look();
/// Call it when all processes were asked for this look.
void asked_for_look(std::uint32_t look);
/// Returns the numbers of the processes that write on the board themselves.
std::vector<ProcessId> processes_here();
/// Returns the slot of a process that does not write on the board itself; null if there is no room for it.
SlotElsewhere* slot_elsewhere(ProcessId process);
/// Returns the slots that slot_elsewhere() has taken.
std::vector<SlotElsewhere*> slots_elsewhere();

// --- in the launcher -----------------------------------------------------------------------------------------------

/// A board for the processes of one launch.
class Board {
 public:
  /// Creates the file in `folder`. Throws EnvironmentError on failure.
  Board(const std::filesystem::path& folder, std::size_t slots);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  Requests& requests() const;
  /// Returns the slots that processes have taken. Local.
  std::vector<const Slot*> slots() const;
  /// Returns the slots of processes on other nodes that were asked. Local.
  std::vector<const SlotElsewhere*> slots_elsewhere() const;
  /// Returns the last look for which processes on other nodes were asked. Local.
  std::uint32_t last_look() const;

 private:
  void* memory_;
  std::size_t bytes_;
};

}  // namespace mend::board
