// The cost of a job's commits, and what the best interval between them would have saved. Reported at the end of a job.

#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace mend {

/// The source of the time between failures.
enum class MtbfFrom { given, observed, assumed };

struct Mtbf {
  Seconds time = std::chrono::hours(24);
  MtbfFrom from = MtbfFrom::assumed;
  bool operator==(const Mtbf&) const = default;
};

/// Returns the mean time between failures: `given`; otherwise the run time divided by the number of failures; otherwise
/// a day.
Mtbf mtbf_of(std::optional<Seconds> given, Seconds run_time, std::uint64_t failures);

/// The figures of a job at its end.
struct CommitEconomy {
  Seconds run_time{};
  std::uint64_t commits = 0;
  Seconds commit_time{};  ///< the sum over all commits
  std::uint64_t failures = 0;
  Mtbf mtbf;

  Seconds cost() const;
  /// Returns the mean time from the end of a commit to the beginning of the next.
  Seconds interval() const;
  /// Returns the cost of commits and repeated steps with one commit each `interval`, as a fraction of the computing
  /// time: the commit cost divided by the interval, plus half an interval and a commit lost per failure.
  double overhead(Seconds interval) const;

  /// Returns one line; empty if there was no commit.
  std::string to_string() const;
};

}  // namespace mend
