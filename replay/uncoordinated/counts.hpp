// The three counters of the paper, as separate types.

#pragma once

#include <compare>
#include <cstdint>

namespace mend::replay {

/// Counts a rank's commits; the paper's epoch. (mend::Epoch counts recoveries, which are called rounds here.) All ranks
/// of a cluster have the same value; clusters may begin with different ones.
struct CommitEpoch {
  std::uint32_t value = 0;
  auto operator<=>(const CommitEpoch&) const = default;
  CommitEpoch next() const { return {value + 1}; }
};

/// Grows along every causal path, at each point where the path is broken: at a commit and at a logged message.
struct Phase {
  std::uint32_t value = 0;
  auto operator<=>(const Phase&) const = default;
  Phase next() const { return {value + 1}; }
};

/// Numbers the messages of one channel from 1 on; 0 is before the first. See "Dates" in protocol.hpp.
struct Date {
  std::uint32_t value = 0;
  auto operator<=>(const Date&) const = default;
  Date next() const { return {value + 1}; }
};

}  // namespace mend::replay
