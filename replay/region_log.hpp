// One rank's log of messages, divided into regions of the program, as in Fenix's message logs (fenix/mlog).
//
//   region 7 | region 8 | region 9 ...        the program begins each region; a message may cross into the next one
//
// The log keeps the last `depth` regions. For each it keeps the messages sent in it, with their bytes, and the number
// and hash of the messages sent and received on each channel before it began. With this a rank can go back to the
// beginning of a region. With a log that was committed and restored it can continue where it was at the commit. After a
// failure each rank reports where it continues, and the ranks tell each other which messages they have received
// (hear()). Missing messages are sent again from the log. A message that a rank sends again and that the receiver
// already has is recognised, and compared by its hash.
//
// Ranks need not commit at the same place, and messages may be in flight during a commit: a committed log holds the
// messages of the earlier regions.
//
// A process that has taken over a rank without a committed log has no messages and continues at a region. Its log takes
// the counts from the other ranks: what they had sent to it and received from it when that region began.
//
// Pure: no MPI, no clock.

#pragma once

#include "replay/log_memory.hpp"
#include "replay/message_log.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace mend::replay {

class RegionLog final : public MessageLog {
 public:
  /// The number of messages of a channel since its beginning, and the hash over them.
  struct Count {
    std::uint64_t number = 0;
    std::uint64_t hash = 0;
    bool operator==(const Count&) const = default;
  };
  using Counts = std::map<Channel, Count>;

  /// The place where a rank continues, as it tells all other ranks.
  struct Position {
    bool takes_counts = false;  ///< its log has no messages and begins at `region`
    int region = -1;
  };
  /// The report of a rank to one other rank. In the channels, `peer` is the rank that sends the report.
  struct Report {
    Counts received{};  ///< what it has received from the other rank
    // For a rank that takes counts:
    Counts received_then{};  ///< what had been received from it when its region began
    Counts sent_then{};      ///< what had been sent to it when its region began
    bool is_lost = false;    ///< the region is not kept
  };

  /// `depth`: the number of regions that are kept, at least 1.
  RegionLog(std::size_t depth, Hash hash) : depth_(depth), hash_(hash) {}

  // --- the program's messages ------------------------------------------------------------------------------------
  Copy begin_send(const Channel& channel, std::size_t size) override;
  /// The copy keeps its address until its region is dropped and forget_dropped() is called.
  void end_send(const Channel& channel, std::span<const std::byte> copy) override;
  void receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request) override;

  /// Begins a call of the program.
  void begin_call();
  /// Undoes a call that has ended with a failure and will be repeated: forgets the messages that were sent and received
  /// in the call, except those that were received by a request.
  void undo_call();

  // --- regions ---------------------------------------------------------------------------------------------------
  /// Returns the region that has begun last.
  std::optional<int> region() const;
  /// Returns true if the present region is an earlier one, or has no messages.
  bool can_begin(int region) const;
  /// Begins a region. Without this call, the first message begins region 0.
  void begin_region(int region);
  /// Returns true if `region` is kept, or is later than all regions.
  bool can_go_back_to(int region) const;
  /// Goes back to the beginning of `region`, or begins it if it is later than all regions.
  void go_back_to(int region);
  /// Frees the copies of dropped regions, but for regions with copies in use.
  void forget_dropped(InUse in_use);

  // --- after a failure: all ranks together -----------------------------------------------------------------------
  bool has_messages() const { return !sends_.empty() || !received_.empty(); }
  /// Returns this rank's report for `peer`, which continues at `position`.
  Report report_for(int peer, const Position& position) const;
  /// Returns true if the messages that `peer` needs again are kept. `report`: the report of `peer`.
  bool can_serve(int peer, const Position& position, const Report& report) const;
  /// Handles the report of `peer`. Returns the messages to send to `peer` again, in order. `takes_counts`: of this
  /// rank's own position, the same for all peers.
  std::vector<Resent> hear(int peer, const Position& position, const Report& report, bool takes_counts);
  const std::optional<Difference>& difference() const { return difference_; }

  // --- as a member of what is committed --------------------------------------------------------------------------
  std::vector<std::byte> write() const;
  /// Replaces this log by the one that write() was called for. Throws std::runtime_error if `bytes` are not what
  /// write() has returned; then this log stays as it is.
  void read(std::span<const std::byte> bytes);

  /// Returns the number of bytes of kept messages.
  std::size_t bytes() const;

 private:
  struct Entry {
    Channel channel;
    Count before;  ///< count of the channel without this message
    std::span<const std::byte> bytes;
  };
  struct Region {
    int id = 0;
    Counts sent;  ///< at its beginning
    Counts received;
    std::vector<Entry> log;
    LogMemory memory;
  };

  Region& now();
  Counts counts_of(const Counts& counts, int peer) const;
  const Region* first_from(int region) const;
  bool has_dropped_before(int region) const;
  Counts sent_at(int region) const;
  Counts received_at(int region) const;
  Counts needed_from(int peer, const Position& position, const Report& report) const;
  static RegionLog parsed(std::span<const std::byte> bytes, Hash hash);
  Region begun(int id);
  void retire(Region region);
  void compare(const Channel& channel, const Count& mine, const Count& theirs);

  std::size_t depth_;
  Hash hash_;
  std::deque<Region> regions_;  // the oldest first
  Counts sends_;
  Counts received_;
  Counts theirs_;  // for each channel of this rank's sends: the messages that the receiver has, as it last reported
  bool has_dropped_ = false;
  std::vector<LogMemory> dropped_;
  std::vector<LogMemory> spare_;
  std::vector<Channel> sent_in_call_;
  std::vector<std::pair<Channel, Count>> received_in_call_;  // with the count before the call
  std::optional<Difference> difference_;
};

}  // namespace mend::replay
