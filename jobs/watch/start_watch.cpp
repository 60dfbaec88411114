#include "jobs/watch/start_watch.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mend::jobs {

std::chrono::seconds usual_start_limit(int processes, std::optional<int> cores) {
  constexpr std::chrono::seconds at_least{60};
  constexpr std::chrono::seconds for_each{2};
  if (!cores) return at_least;
  const int on_a_core = (processes + *cores - 1) / *cores;
  return std::max(at_least, for_each * on_a_core);
}

/// The number of reports that came after `time`.
std::size_t StartWatch::reports_after(std::chrono::milliseconds time) const {
  const auto next = reports_until_.upper_bound(time);
  return reports_ - (next == reports_until_.begin() ? 0 : std::prev(next)->second);
}

StartWatch::Decision StartWatch::look(std::chrono::milliseconds now, const StartView& sight) {
  if (sight.introduced) return {.step = Step::over};
  if (sight.begun) begun_at_ = begun_at_.value_or(now);
  const bool reported = sight.reports != std::exchange(reports_, sight.reports);
  if (reported) reports_until_[now] = reports_;
  if (begun_at_ && now - *begun_at_ >= limits_.limit)
    return {.step = Step::give_up, .late_reports = reports_after(now - limits_.limit / late_part)};

  const bool died = sight.lost != std::exchange(lost_, sight.lost);
  if (reported || died) last_change_ = now;
  const bool stalled = sight.lost > 0 && !sight.some_introduced && now - last_change_ >= limits_.stall;
  if (stalled) return {.step = Step::launch_anew};

  Decision decision;
  std::map<pid_t, std::chrono::milliseconds> stopped;
  for (const pid_t process : sight.stopped) {
    const auto before = stopped_.find(process);
    const auto since = before == stopped_.end() ? now : before->second;
    stopped[process] = since;
    if (sight.others_wait && now - since >= limits_.stopped) decision.kill.push_back(process);
  }
  stopped_ = std::move(stopped);
  decision.tell_none_came = !sight.begun && now >= limits_.limit && !std::exchange(told_, true);
  return decision;
}

}  // namespace mend::jobs
