#include "jobs/watch/end_watch.hpp"

#include <utility>

namespace mend::jobs {

EndWatch::Decision EndWatch::look(std::chrono::milliseconds now, const EndView& sight) {
  if (!sight.agreed) return {};
  std::map<pid_t, std::chrono::milliseconds> since;
  for (const auto* const processes : {&sight.stopped, &sight.lingering}) {
    for (const pid_t process : *processes) {
      const auto before = since_.find(process);
      since[process] = before == since_.end() ? now : before->second;
    }
  }
  since_ = std::move(since);

  Decision decision;
  decision.kill = overdue(now, sight.stopped);
  if (decision.kill.empty()) decision.kill = overdue(now, sight.lingering);
  if (!decision.kill.empty()) {
    since_.clear();  // processes that waited for these get the whole time again
    killed_ = now;
  }
  const bool nobody_here = sight.stopped.empty() && sight.lingering.empty() && sight.working.empty();
  working_since_ = sight.working.empty() ? std::nullopt : std::optional(working_since_.value_or(now));
  if (working_since_ && now - *working_since_ >= limit_ && !std::exchange(told_, true)) decision.tell = sight.working;
  decision.end_job = killed_ && nobody_here && now - *killed_ >= limit_;
  return decision;
}

std::vector<pid_t> EndWatch::overdue(std::chrono::milliseconds now, const std::vector<pid_t>& processes) const {
  std::vector<pid_t> found;
  for (const pid_t process : processes) {
    if (now - since_.at(process) >= limit_) found.push_back(process);
  }
  return found;
}

}  // namespace mend::jobs
