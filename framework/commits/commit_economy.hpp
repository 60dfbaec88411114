// What commits have cost, and what the best interval between them would have saved: reported at the end of a job.

#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace mend {

/// Where the time between failures comes from.
enum class MtbfFrom { given, observed, assumed };

struct Mtbf {
  Seconds time = std::chrono::hours(24);
  MtbfFrom from = MtbfFrom::assumed;
  bool operator==(const Mtbf&) const = default;
};

/// What is given; else what has been observed: the time that the job has run, by the failures it has had; else a day.
Mtbf mtbf_of(std::optional<Seconds> given, Seconds run_time, std::uint64_t failures);

/// The figures of a job at its end.
struct CommitEconomy {
  Seconds run_time{};
  std::uint64_t commits = 0;
  Seconds commit_time{};  ///< of all
  std::uint64_t failures = 0;
  Mtbf mtbf;

  Seconds cost() const;
  /// From the end of a commit to the beginning of the next.
  Seconds interval() const;
  /// What commits and the repetition of steps take, as a part of the time computed, when there is a commit after each
  /// `interval`: what a commit costs by what it is made for, and half an interval and a commit lost with each failure.
  double overhead(Seconds interval) const;

  /// One line; nothing when there was no commit.
  std::string to_string() const;
};

}  // namespace mend
