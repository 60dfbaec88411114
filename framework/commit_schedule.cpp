#include "framework/commit_schedule.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mend {

CommitSchedule::CommitSchedule(std::string_view every, Seconds mtbf) : automatic_(every == "auto"), mtbf_(mtbf) {
  if (!(mtbf > Seconds{0}) || !std::isfinite(mtbf.count())) {
    throw UsageError("the time between failures must be a positive number");
  }
  if (automatic_) return;
  const auto [end, error] = std::from_chars(every.data(), every.data() + every.size(), interval_);
  if (error != std::errc{} || end != every.data() + every.size() || interval_ < 1) {
    throw UsageError(fmt::format("'{}' is no commit interval: give a number of steps from 1 up, or auto", every));
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

void CommitSchedule::measured(Seconds commit_cost, Seconds step_time) {
  constexpr double most_steps = 1e9;
  const double steps = young_interval(commit_cost, mtbf_) / std::max(step_time, Seconds{1e-9});
  interval_ = static_cast<int>(std::clamp(std::round(steps), 1.0, most_steps));
  interval_known_ = true;
}

Seconds young_interval(Seconds commit_cost, Seconds mtbf) {
  return Seconds{std::sqrt(2.0 * commit_cost.count() * mtbf.count())};
}

}  // namespace mend
