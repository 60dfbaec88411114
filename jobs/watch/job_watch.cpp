#include "jobs/watch/job_watch.hpp"

#include "base/launch.hpp"
#include "jobs/say.hpp"
#include "jobs/watch/process_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace mend::jobs {
namespace {

/// The longest time that counts between two looks. Time in which this process is stopped together with the job does not
/// count.
constexpr std::chrono::milliseconds longest_step{500};

/// After this time, stopped processes are reported.
constexpr std::chrono::milliseconds long_stopped{5'000};

/// Kills only processes of the job, because process ids are reused.
void kill_own(const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) {
    if (descends_from(process, ::getpid())) ::kill(process, SIGKILL);
  }
}

}  // namespace

JobWatch::JobWatch(std::filesystem::path status_file, const Settings& settings)
    : status_file_(std::move(status_file)),
      settings_(settings),
      machine_(launch::machine()),
      last_look_(Clock::now()),
      start_(settings.start),
      end_(settings.end) {}

void JobWatch::read() { reports_ = read_reports(status_file_, machine_); }

void JobWatch::advance_clock() {
  const auto now = Clock::now();
  now_ += std::min(std::chrono::duration_cast<std::chrono::milliseconds>(now - last_look_), longest_step);
  last_look_ = now;
}

StartView JobWatch::see_start(pid_t child) const {
  StartView sight{.begun = reports_.started > 0, .some_introduced = reports_.introduced > 0, .reports = reports_.lines};
  std::vector<pid_t> children;  // processes of the job, or processes that start them
  if (settings_.all_here) children = children_of(child);
  int living = 0;
  bool all_introduced = sight.some_introduced;
  for (const auto& [process, stage] : reports_.stages) {
    std::erase(children, process);
    if (stage.left || stage.later) continue;
    const Condition condition = condition_of(process);
    if (condition == Condition::gone) {
      ++sight.lost;
      continue;
    }
    ++living;
    if (stage.introduced) continue;
    all_introduced = false;
    if (condition == Condition::stopped) sight.stopped.push_back(process);
    if (condition == Condition::alive) sight.others_wait = true;
  }
  for (const pid_t process : children) {
    const Condition condition = condition_of(process);
    if (condition != Condition::gone) ++living;
    if (condition == Condition::stopped) sight.stopped.push_back(process);
  }
  // A rank may live in a child that a launched process has forked, and which is introduced instead of it.
  const bool are_enough_introduced = reports_.introduced >= settings_.processes;
  sight.introduced = all_introduced || are_enough_introduced || reports_.finished.has_value();
  // Some processes may have died before their first report.
  if (settings_.all_here && reports_.loaded > 0) {
    sight.lost = std::max(sight.lost, settings_.processes - living - reports_.quit);
  }
  return sight;
}

EndView JobWatch::see_end() const {
  EndView sight;
  if (!reports_.finished && reports_.unwatched == 0) return sight;
  sight.agreed = true;
  for (const auto& [process, stage] : reports_.stages) {
    const Condition condition = condition_of(process);
    if (condition == Condition::gone) continue;
    if (condition == Condition::stopped) {
      sight.stopped.push_back(process);
    } else if (stage.left) {
      continue;
    } else if (stage.closed) {
      sight.working.push_back(process);
    } else {
      sight.lingering.push_back(process);
      sight.agreed = sight.agreed && stage.at_end;  // a process that is alone in reporting it may be cut off from the
                                                    // others
    }
  }
  return sight;
}

bool JobWatch::wanted(pid_t child) {
  if (reports_.aborted) return false;
  if (start_) {
    const bool others_wait = reports_.started > 0 && reports_.introduced == 0 && !reports_.finished;
    if (others_wait && reports_.skipped_by_child_of(child) != nullptr) return false;
    const StartView sight = see_start(child);
    const auto [step, stopped, none_came, late_reports] = start_->look(now_, sight);
    // Processes on other machines do not report here.
    if (none_came && settings_.all_here) {
      say(fmt::format("no process has come to mend::run {} s after the launch (--start-limit): mend waits",
                      settings_.start.limit.count() / 1000));
    }
    kill_own(stopped);
    killed_at_start_ = killed_at_start_ || !stopped.empty();
    if (step != StartWatch::Step::wait) start_.reset();
    lost_at_start_ = step == StartWatch::Step::launch_anew;
    if (step == StartWatch::Step::give_up && settings_.all_here) {
      lost_at_limit_ = sight.lost;
      late_reports_ = late_reports;
    }
    return step == StartWatch::Step::wait || step == StartWatch::Step::over;
  }
  const auto [lingering, working, end_job] = end_.look(now_, see_end());
  if (!working.empty()) {
    const bool one = working.size() == 1;
    say(fmt::format("{} {} still running {} s after the end of the job: mend waits for {}", reports_.names_of(working),
                    one ? "is" : "are", settings_.end.count() / 1000, one ? "it" : "them"));
  }
  if (!lingering.empty()) {
    say(fmt::format("{} had not ended {} s after the end of the job and {} killed",
                    lingering.size() == 1 ? "a process" : fmt::format("{} processes", lingering.size()),
                    settings_.end.count() / 1000, lingering.size() == 1 ? "was" : "were"));
    kill_own(lingering);
    killed_at_end_.insert(lingering.begin(), lingering.end());
  }
  if (end_job) say("processes on other nodes had not ended either and were killed");
  return !end_job;
}

/// Reports processes that the job's processes have started and left behind. This process has inherited them, beside its
/// `own` children. As long as they hold the job's output open, mpirun waits for them.
void JobWatch::tell_of_leftovers(const Children& own, bool over) {
  constexpr std::chrono::milliseconds time_to_end{500};  // for an mpirun that ends by itself
  over_since_ = over ? std::optional(over_since_.value_or(now_)) : std::nullopt;
  if (!over_since_ || now_ - *over_since_ < time_to_end || told_of_leftovers_) return;
  std::vector<std::string> names;
  for (const pid_t process : children_of(::getpid())) {
    if (process != own.child && process != own.guard && condition_of(process) != Condition::gone)
      names.push_back(fmt::format("{} ({})", process, name_of(process)));
  }
  if (names.empty()) return;
  told_of_leftovers_ = true;
  say(fmt::format(
      "the processes of the job have ended, but not what they have started: process {}; mend waits for 10 s, "
      "and then kills it",
      fmt::join(names, ", process ")));
}

/// Returns true once for each long stop, when it has lasted for `long_stopped`.
bool JobWatch::is_to_tell(Stopped& stopped, bool now) const {
  if (!now) {
    stopped = {};
    return false;
  }
  stopped.since = stopped.since.value_or(now_);
  return now_ - *stopped.since >= long_stopped && !std::exchange(stopped.told, true);
}

/// Reports a stopped mpirun, and a stop of all processes, because no other process can report it. If only some are
/// stopped, the others treat them as hanging.
void JobWatch::tell_of_stopped(pid_t mpirun) {
  if (is_to_tell(mpirun_stopped_, mpirun_stopped_.told || condition_of(mpirun) == Condition::stopped)) {
    say(fmt::format(
        "mpirun (process {}) has been stopped for {} s: there is no output, and the job cannot end, until it continues "
        "(kill -CONT {})",
        mpirun, long_stopped.count() / 1000, mpirun));
  }
  bool some_are_stopped = false;
  bool some_run = false;  // the first running process is enough: this runs often
  for (auto stage = reports_.stages.begin(); stage != reports_.stages.end() && !some_run; ++stage) {
    const Condition condition = condition_of(stage->first);
    some_are_stopped = some_are_stopped || condition == Condition::stopped;
    some_run = condition == Condition::alive;
  }
  if (is_to_tell(all_stopped_, some_are_stopped && !some_run)) {
    say(fmt::format("all processes of the job on this machine have been stopped for {} s: they continue after SIGCONT",
                    long_stopped.count() / 1000));
  }
}

Look JobWatch::look(const Children& own) {
  const pid_t child = own.child;
  advance_clock();
  std::error_code ignored;
  if (const auto size = std::filesystem::file_size(status_file_, ignored); size != read_size_) {
    read_size_ = size;
    read();
  }
  Look look{.wanted = wanted(child)};
  // A stopped mpirun does not wait for its children, so those that have ended are still its children.
  const auto lives = [](pid_t process) { return condition_of(process) != Condition::gone; };
  const bool has_children = std::ranges::any_of(children_of(child), lives);
  had_processes_ = had_processes_ || has_children || reports_.loaded > 0;
  // mpirun may wait for processes on other machines, which have no stage here.
  const bool all_ran_here = settings_.all_here || std::ssize(reports_.stages) >= settings_.processes;
  const bool all_have_ended = had_processes_ && !has_children && all_ran_here;
  tell_of_leftovers(own, all_have_ended);
  tell_of_stopped(child);
  look.over = all_have_ended || reports_.waits_for_the_lost();
  return look;
}

}  // namespace mend::jobs
