#include "framework/commits/commit_schedule.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mend {

CommitSchedule::CommitSchedule(std::optional<int> every) : automatic_(!every), interval_(every.value_or(1)) {
  if (interval_ < 1) {
    throw UsageError(
        fmt::format("'{}' is not a commit interval: give a number of steps from 1 up, or auto", interval_));
  }
}

void CommitSchedule::restart() {
  since_commit_ = 0;
  if (automatic_) {
    interval_known_ = false;
    interval_ = 1;
  }
}

bool CommitSchedule::step() {
  if (++since_commit_ < interval_) return false;
  since_commit_ = 0;
  return true;
}

void CommitSchedule::measured(Seconds commit_cost, Seconds step_time, Seconds mtbf) {
  constexpr double most_steps = 1e9;
  const double steps = daly_interval(commit_cost, mtbf) / std::max(step_time, Seconds{1e-9});
  interval_ = static_cast<int>(std::clamp(std::round(steps), 1.0, most_steps));
  interval_known_ = true;
}

Seconds young_interval(Seconds commit_cost, Seconds mtbf) {
  return Seconds{std::sqrt(2.0 * commit_cost.count() * mtbf.count())};
}

Seconds daly_interval(Seconds commit_cost, Seconds mtbf) {
  if (commit_cost >= 2 * mtbf) return mtbf;
  const double ratio = commit_cost / (2 * mtbf);
  return young_interval(commit_cost, mtbf) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - commit_cost;
}

}  // namespace mend
