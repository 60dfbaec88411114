// What control threads say to each other about ranks that wait.

#pragma once

#include "base/telemetry/activity.hpp"
#include "base/telemetry/place.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mend::detector {

/// Where a process is, as it says itself.
struct Whereabouts {
  Place place = Place::none;
  std::optional<Rank> rank;
  std::chrono::milliseconds waited{};  ///< since it came there; in the body, since it last called mend or moved in MPI
  std::uint64_t visit = 0;             ///< another one each time that it comes somewhere, or moves
  MpiCall call = MpiCall::none;        ///< in the body

  bool operator==(const Whereabouts&) const = default;
};

struct StallMessage {
  enum class Kind : std::uint8_t {
    report,    ///< I wait for too long; to the coordinator
    question,  ///< where are you?
    answer,    ///< here
    stacks,    ///< the job is to end: show your stack first
    done,      ///< it has been shown
    leave,     ///< end now
  };
  static constexpr Kind last_kind = Kind::leave;

  Kind kind = Kind::report;
  std::uint32_t round = 0;  ///< of a question and its answer: which one
  Whereabouts where;        ///< of an answer

  bool operator==(const StallMessage&) const = default;
};

/// Whether `bytes` begin as the messages below do, and not as those of the failure detector. Pure.
bool is_about_stalls(std::span<const std::byte> bytes);

/// Appends `message` to `bytes`. Between machines of one byte order.
void write(const StallMessage& message, std::vector<std::byte>& bytes);

/// Reads a message back. Throws EnvironmentError for bytes that write() has not made.
StallMessage read_stall_message(std::span<const std::byte> bytes);

}  // namespace mend::detector
