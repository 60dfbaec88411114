#include "jobs/run/verdict.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/name_runs.hpp"
#include "base/telemetry/user_text.hpp"
#include "jobs/watch/start_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

namespace mend::jobs {
namespace {

constexpr int failed = static_cast<int>(ExitCode::failed);
constexpr int usage = static_cast<int>(ExitCode::usage);
constexpr int unrecoverable = static_cast<int>(ExitCode::unrecoverable);
/// Shells return this plus the signal for a command that a signal ended; mpirun does the same.
constexpr int signal_base = 128;

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

/// Returns true if the code comes from a process. mpirun's own codes are 128 + signal, and some above 180.
bool a_process_returned(int exit_code) { return exit_code > 0 && exit_code < signal_base; }

bool is_signal(int exit_code) { return exit_code > signal_base && sigabbrev_np(exit_code - signal_base) != nullptr; }

Verdict judge_mpirun_alone(int exit_code) {
  if (exit_code == 0) return {};
  if (a_process_returned(exit_code)) {
    return {exit_code, fmt::format("the job ended with exit code {}", exit_code)};
  }
  if (is_signal(exit_code))
    return {exit_code, fmt::format("the program was ended by {}", signal_name(exit_code - signal_base))};
  return {exit_code, fmt::format("the job ended with exit code {}, as it does when mpirun cannot run it", exit_code)};
}

/// Describes the progress of the processes when the job was ended because they had not all met. None has died.
std::string progress_of_start(const Reports& reports, int processes) {
  if (reports.running == 0)
    return fmt::format("{} of {} came to mend::run, and none came through MPI_Init", reports.started, processes);
  if (reports.running >= processes) return "all came through MPI_Init, but have not all met after it";
  return fmt::format("{} of {} came through MPI_Init", reports.running, processes);
}

/// Distinguishes a slow start from a stuck one: a slow start still made progress in its last quarter.
std::string describe_start(const Reports& reports, int processes, const LauncherView& view) {
  const std::string progress = progress_of_start(reports, processes);
  const Seconds lately = Seconds(view.start_limit) / StartWatch::late_part;
  if (view.late_reports == 0) {
    return fmt::format("{}; nothing has moved in the last {:g} s: some hang, or cannot reach the others", progress,
                       lately.count());
  }
  return fmt::format("{}; {} of their steps came in the last {:g} s: the start is slow, and goes on", progress,
                     view.late_reports, lately.count());
}

/// Judges a job in which processes wait, or waited, in MPI_Init for others.
Verdict judge_start(const ChildEnd& mpirun, const Reports& reports, int processes, const LauncherView& view) {
  if (const Skipped* skipped = reports.skipped_by_child_of(mpirun.pid)) {
    return {skipped->exit_code == 0 ? failed : skipped->exit_code,
            fmt::format("a process exited with code {} before it came to mend::run, where the others waited for it",
                        skipped->exit_code)};
  }
  if (mpirun.gave_up && view.lost_at_start == 0) {
    return {failed,
            fmt::format("the job was ended because its processes had not all met within {} s (--start-limit): none has "
                        "died; {}",
                        view.start_limit.count(), describe_start(reports, processes, view)),
            true};
  }
  return {failed,
          fmt::format("the job {} not get through MPI_Init: {}", mpirun.gave_up ? "was ended because it did" : "did",
                      view.killed_at_start ? "a process was stopped there, and was killed"
                                           : "a process died there, or cannot reach the others"),
          true};
}

/// For a job that has finished successfully: returns a sentence about the processes that others have killed after its
/// end; empty if there is none.
std::string tell_killed(const Reports& reports, const LauncherView& view) {
  std::vector<pid_t> killed = reports.not_left();
  std::erase_if(killed, [&](pid_t process) { return view.killed_at_end.contains(process); });
  if (killed.empty()) return "";
  return fmt::format("{} {} killed after the end of the job, in the program's own part: the job's exit code stands",
                     reports.names_of(killed), killed.size() == 1 ? "was" : "were");
}

/// Returns the signal that was sent to `mend run`, was passed on by mpirun, and has ended the processes; nothing if
/// they ended in another way. Programs that handle SIGUSR1 and SIGUSR2 continue.
std::optional<int> ended_by_what_was_passed_on(const ChildEnd& mpirun) {
  const int signal = mpirun.exit_code - signal_base;
  return mpirun.passed_on.contains(signal) ? std::optional(signal) : std::nullopt;
}

/// Judges a job whose mpirun has ended by itself before the processes agreed on an end.
Verdict judge_without_end(const ChildEnd& mpirun, const Reports& reports, int processes, const LauncherView& view) {
  const int code = mpirun.exit_code;
  const bool all_were_killed = code == 0 || code >= signal_base;
  const bool all_started_here = reports.started >= processes;
  const bool none_ran = reports.started > 0 && reports.running == 0;
  if (none_ran && reports.skipped_by_child_of(mpirun.pid) != nullptr)
    return judge_start(mpirun, reports, processes, view);
  if (all_were_killed && (all_started_here || (none_ran && (is_signal(code) || reports.loaded >= processes)))) {
    return {unrecoverable, "the application did not finish: every process that could have done so was killed"};
  }
  const bool were_killed = code == 0 || code == signal_base + SIGKILL;
  if (were_killed && reports.loaded > 0 && reports.started + reports.quit == 0) {
    return {failed, "every process of the program was killed before it had begun: what it printed may say why"};
  }
  const bool some_did_not_run = reports.started > reports.running && reports.running < processes;
  if (a_process_returned(code) && some_did_not_run && !reports.quit_with.contains(code))
    return judge_start(mpirun, reports, processes, view);
  // The arguments were wrong, and the program has reported that before it called mend::run.
  const bool may_have_told = reports.loaded > 0 || !view.all_here;
  if (code == usage && reports.started == 0 && may_have_told) return {usage, ""};
  // The exit of a process does not end a running job: the others recover, and agree on an end.
  if (a_process_returned(code) && view.all_here && reports.running >= processes && !reports.quit_with.contains(code)) {
    return {code, fmt::format("mpirun has ended the running job, with exit code {}: it was sent a signal, or failed; "
                              "signals to mend run end a job in order",
                              code)};
  }
  const Verdict verdict = judge_mpirun_alone(code);
  const bool program_ended_it = code == 0 || a_process_returned(code) || is_signal(code);
  if (!program_ended_it || !view.all_here || reports.has_begun()) return verdict;
  if (code != 0 && !mpirun.had_children && reports.loaded == 0) {
    return {code, fmt::format("mpirun failed with exit code {} before it had started the program: what it printed says "
                              "why",
                              code)};
  }
  constexpr const char* unprotected = "the program never called mend::run, and ran unprotected";
  return {verdict.exit_code,
          verdict.sentence.empty() ? unprotected : fmt::format("{}; {}", verdict.sentence, unprotected)};
}

}  // namespace

std::string describe(const std::vector<EarlyCrash>& crashes) {
  if (crashes.empty()) return "";
  const EarlyCrash& first = crashes.front();
  const std::size_t more = crashes.size() - 1;
  const std::string others =
      more == 0 ? "" : fmt::format(", and so {} {}", more == 1 ? "was" : "were", counted(more, "other"));
  return fmt::format("process {} was ended by {} before the job had begun{}", first.process, signal_name(first.signal),
                     others);
}

Verdict judge(const ChildEnd& mpirun, const Reports& reports, int processes, const LauncherView& view) {
  if (reports.aborted) {
    const int code = *reports.aborted & 0xff;  // the part that an exit code can hold
    return {code == 0 ? failed : code,
            reports.why_aborted.empty()
                ? fmt::format("a process ended the job by MPI_Abort with code {}", *reports.aborted)
                : reports.why_aborted};
  }
  const bool agreed_end = reports.finished.has_value();
  const bool was_stopped = mpirun.was_stuck && view.mpirun_was_stopped;
  const bool killed_by_others = mpirun.ended_by && !mpirun.was_stuck && !mpirun.gave_up && !mpirun.asked_to_end;
  if (killed_by_others && reports.finished != 0) {
    return {signal_base + *mpirun.ended_by, fmt::format("mpirun was killed by {}", signal_name(*mpirun.ended_by))};
  }
  if (agreed_end && *reports.finished != 0) {
    // If not all processes are here, the one that has reported the error may be on another node.
    const bool nobody_spoke = !reports.said && reports.started >= processes;
    if (nobody_spoke && !reports.unsaid.empty()) return {*reports.finished, reports.unsaid};
    if (mpirun.asked_to_end && *reports.finished == static_cast<int>(ExitCode::left_in_time)) {
      return {*reports.finished, fmt::format("the job has left in time; its processes were ended by {} before they had "
                                             "said more",
                                             signal_name(*mpirun.asked_to_end))};
    }
    if (was_stopped) {
      return {*reports.finished,
              fmt::format("the job has ended with exit code {}, but mpirun was stopped and had to be "
                          "killed: their last messages are lost",
                          *reports.finished)};
    }
    return {*reports.finished, describe(reports.early_crashes)};
  }
  const bool was_ended_by_user = mpirun.asked_to_end.has_value();
  if (!agreed_end && !reports.early_crashes.empty() && reports.introduced == 0 && !was_ended_by_user) {
    return {signal_base + reports.early_crashes.front().signal,
            describe(reports.early_crashes) + ": the program fails there by itself", true};
  }
  if (mpirun.was_stuck && !agreed_end) {
    return {failed, "mpirun did not end though all its processes had, and was ended"};
  }
  if (const auto signal = ended_by_what_was_passed_on(mpirun); signal && !agreed_end) {
    return {signal_base + *signal,
            fmt::format("the job was ended by {}, which was sent to mend run and passed on to the "
                        "program, which does not handle it",
                        signal_name(*signal))};
  }
  if (mpirun.gave_up && !agreed_end && !was_ended_by_user) return judge_start(mpirun, reports, processes, view);
  if (mpirun.asked_to_end && (!agreed_end || mpirun.ended_by || mpirun.exit_code != 0)) {
    return {signal_base + *mpirun.asked_to_end,
            fmt::format("the job was ended by {}", signal_name(*mpirun.asked_to_end))};
  }
  if (agreed_end && reports.crashed_afterwards) {
    return {
        signal_base + *reports.crashed_afterwards,
        fmt::format("a process was ended by {} after the job had finished", signal_name(*reports.crashed_afterwards))};
  }
  if (agreed_end && reports.erred > 0) return {failed, ""};  // the process has reported its error
  if (agreed_end && reports.error_afterwards) return judge_mpirun_alone(*reports.error_afterwards);
  const bool may_have_erred = a_process_returned(mpirun.exit_code) && !reports.too_late.contains(mpirun.exit_code);
  if (agreed_end && !mpirun.was_stuck && !reports.tell_all(processes) && may_have_erred) {
    return judge_mpirun_alone(mpirun.exit_code);
  }
  if (agreed_end && was_stopped)
    return {0, "the job has finished, but mpirun was stopped and had to be killed: output may be missing"};
  if (agreed_end) return {0, mpirun.ended_by ? "" : tell_killed(reports, view)};
  return judge_without_end(mpirun, reports, processes, view);
}

std::string lost_reason(const ChildEnd& mpirun, const Reports& reports) {
  const std::string reason = printable(reports.reason);  // as processes print it, but in one line
  std::string shown = mpirun.last_errors;
  std::ranges::replace(shown, '\n', ' ');
  return shown.find(reason) == std::string::npos ? reason : "";
}

}  // namespace mend::jobs
