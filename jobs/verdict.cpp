#include "jobs/verdict.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <fstream>

namespace mend::jobs {
namespace {

constexpr int failed = static_cast<int>(ExitCode::failed);
constexpr int usage = static_cast<int>(ExitCode::usage);
constexpr int unrecoverable = static_cast<int>(ExitCode::unrecoverable);
/// What shells return for a command that a signal ended is this plus the signal; mpirun follows them.
constexpr int signal_base = 128;

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

/// What mpirun returns by itself, without a process having returned it, lies from here on: 128 + signal, and its own
/// codes above 180.
bool a_process_returned(int exit_code) { return exit_code > 0 && exit_code < signal_base; }

Verdict judge_mpirun_alone(int exit_code) {
  if (exit_code == 0) return {};
  // These are what programs written with mend return; they say themselves what is wrong.
  if (exit_code == usage || exit_code == unrecoverable) return {exit_code, ""};
  if (a_process_returned(exit_code)) {
    return {exit_code, fmt::format("the job ended with exit code {}", exit_code)};
  }
  if (const int signal = exit_code - signal_base; sigabbrev_np(signal) != nullptr) {
    return {exit_code, fmt::format("the program was ended by {}", signal_name(signal))};
  }
  return {exit_code, fmt::format("the job ended with exit code {}, as it does when mpirun cannot run it", exit_code)};
}

}  // namespace

Reports read_reports(const std::filesystem::path& status_file) {
  Reports reports;
  std::vector<int> statuses;
  std::ifstream file(status_file);
  for (std::string word; file >> word;) {
    if (word == "loaded") ++reports.loaded;
    if (word == "quit") ++reports.quit;
    if (int status = 0; word == "left" && file >> status) {
      ++reports.left;
      if (status != 0) statuses.push_back(status);
    }
    if (word == "unseen") ++reports.unseen;
    if (word == "started") ++reports.started;
    if (word == "running") ++reports.running;
    if (int code = 0; word == "finished" && file >> code) {
      ++reports.finishers;
      reports.finished = reports.finished.value_or(code);
      if (code != *reports.finished) reports.too_late.insert(code);
    }
  }
  for (const int status : statuses) {
    if (status != reports.finished && !reports.too_late.contains(status)) reports.error_afterwards = status;
  }
  return reports;
}

Verdict judge(const ChildEnd& mpirun, const Reports& reports, int processes) {
  const bool agreed_end = reports.finished.has_value();
  if (agreed_end && *reports.finished != 0) return {*reports.finished, ""};
  if (mpirun.was_stuck && !agreed_end) {
    return {failed, "mpirun did not end though all its processes had, and was ended"};
  }
  if (mpirun.gave_up) {
    return {failed,
            "the job was ended because it did not get through MPI_Init: a process died there, or cannot "
            "reach the others"};
  }
  if (mpirun.asked_to_end && (!agreed_end || mpirun.ended_by || mpirun.exit_code != 0)) {
    return {signal_base + *mpirun.asked_to_end,
            fmt::format("the job was ended by {}", signal_name(*mpirun.asked_to_end))};
  }
  if (agreed_end && reports.error_afterwards) return judge_mpirun_alone(*reports.error_afterwards);
  const bool may_have_erred = a_process_returned(mpirun.exit_code) && !reports.too_late.contains(mpirun.exit_code);
  if (agreed_end && !mpirun.was_stuck && !reports.tell_all(processes) && may_have_erred) {
    return judge_mpirun_alone(mpirun.exit_code);
  }
  if (agreed_end) return {};
  if (mpirun.ended_by) {
    return {signal_base + *mpirun.ended_by, fmt::format("mpirun was killed by {}", signal_name(*mpirun.ended_by))};
  }
  const bool all_report_here = reports.started >= processes;
  const bool all_were_killed = mpirun.exit_code == 0 || mpirun.exit_code >= signal_base;
  if (all_were_killed && all_report_here) {
    return {unrecoverable, "the application did not finish: every process that could have done so was killed"};
  }
  if (mpirun.exit_code == 0 && reports.loaded > 0 && reports.started + reports.quit == 0) {
    return {failed, "every process of the program was killed before it had begun: what it printed may say why"};
  }
  return judge_mpirun_alone(mpirun.exit_code);
}

}  // namespace mend::jobs
