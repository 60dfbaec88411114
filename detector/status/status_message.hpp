// The messages of control threads about the state of a process, which `mend status` shows.

#pragma once

#include "base/ids.hpp"
#include "base/telemetry/activity.hpp"
#include "base/telemetry/disk_use.hpp"
#include "base/telemetry/place.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend::detector {

/// The state of a process, as its slot of the board has it (base/telemetry/job_board.hpp). Times are ages, because
/// nodes have different clocks.
struct ProcessState {
  std::int32_t pid = 0;
  std::optional<Rank> rank;
  std::uint32_t epoch = 0;
  std::uint64_t version = 0;
  std::optional<std::chrono::microseconds> since_commit;
  std::uint64_t disk_version = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t resident_bytes = 0;
  DiskUse disk = DiskUse::none;
  Place place = Place::none;
  std::chrono::microseconds since_place{};
  MpiCall call = MpiCall::none;
  std::string machine;  ///< at most 63 bytes arrive

  bool operator==(const ProcessState&) const = default;
};

struct StatusMessage {
  std::uint32_t look = 0;             ///< the number of the question
  std::optional<ProcessState> state;  ///< of an answer

  bool operator==(const StatusMessage&) const = default;
};

/// Returns true if `bytes` begin like the messages below. Pure.
bool is_about_status(std::span<const std::byte> bytes);

/// Appends `message` to `bytes`. Sender and receiver must have the same byte order.
void write(const StatusMessage& message, std::vector<std::byte>& bytes);

/// Reads a message. Throws EnvironmentError for bytes that write() cannot have made.
StatusMessage read_status_message(std::span<const std::byte> bytes);

}  // namespace mend::detector
