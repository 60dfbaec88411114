// The messages of control threads about ranks that wait.

#pragma once

#include "base/telemetry/activity.hpp"
#include "base/telemetry/library_wait.hpp"
#include "base/telemetry/place.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mend::detector {

/// The place of a process, as the process reports it.
struct Whereabouts {
  Place place = Place::none;
  std::optional<Rank> rank;
  std::chrono::milliseconds waited{};  ///< since it came there; in the body, since it last called mend or moved in MPI
  std::uint64_t visit = 0;             ///< changes each time that the process changes its place, or moves
  MpiCall call = MpiCall::none;        ///< in the body
  std::chrono::milliseconds held{};    ///< time without a move in the call of MPI that it is in; 0: in none
  Turn turn{};
  bool is_idle = false;                ///< in all that time, the library has not even looked for messages
  bool has_gone_back = false;          ///< local rollback: it, or another rank, has since the last commit
  std::chrono::milliseconds polled{};  ///< time without a move in which it has polled for messages; 0: it does not poll

  bool operator==(const Whereabouts&) const = default;
};

struct StallMessage {
  enum class Kind : std::uint8_t {
    report,    ///< I have waited for too long; to the coordinator
    question,  ///< where are you?
    answer,    ///< the place of the sender
    stacks,    ///< the job will end: print your stack first
    done,      ///< the stack is printed
    leave,     ///< end now
    go_back,   ///< your wait is in vain: make all ranks roll back
  };
  static constexpr Kind last_kind = Kind::go_back;

  Kind kind = Kind::report;
  std::uint32_t round = 0;  ///< of a question and its answer: the number of the round
  Whereabouts where;        ///< of an answer

  bool operator==(const StallMessage&) const = default;
};

/// Returns true if `bytes` begin like the messages below, and not like those of the failure detector. Pure.
bool is_about_stalls(std::span<const std::byte> bytes);

/// Appends `message` to `bytes`. Sender and receiver must have the same byte order.
void write(const StallMessage& message, std::vector<std::byte>& bytes);

/// Reads a message. Throws EnvironmentError for bytes that write() cannot have made.
StallMessage read_stall_message(std::span<const std::byte> bytes);

}  // namespace mend::detector
