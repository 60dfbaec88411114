#include "jobs/verdict.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    return {exit_code, fmt::format("the program ended with exit code {}", exit_code)};
  }
  if (const int signal = exit_code - signal_base; sigabbrev_np(signal) != nullptr) {
    return {exit_code, fmt::format("the program was ended by {}", signal_name(signal))};
  }
  return {exit_code, fmt::format("mpirun could not run the program (its exit code is {})", exit_code)};
}

}  // namespace

Reports read_reports(const std::filesystem::path& status_file) {
  Reports reports;
  std::ifstream file(status_file);
  for (std::string word; file >> word;) {
    if (word == "started") ++reports.started;
    if (word == "running") ++reports.running;
    if (int code = 0; word == "finished" && file >> code) {
      reports.finished = std::max(code, reports.finished.value_or(code));
    }
  }
  return reports;
}

Verdict judge(const ChildEnd& mpirun, const Reports& reports, int processes) {
  const bool agreed_end = reports.finished.has_value();
  if (agreed_end && *reports.finished != 0) return {*reports.finished, ""};
  if (mpirun.gave_up) {
    return {failed,
            "the job was ended because it did not get through MPI_Init: a process died there, or cannot "
            "reach the others"};
  }
  if (mpirun.asked_to_end && (!agreed_end || mpirun.ended_by || mpirun.exit_code != 0)) {
    return {signal_base + *mpirun.asked_to_end,
            fmt::format("the job was ended by {}", signal_name(*mpirun.asked_to_end))};
  }
  if (agreed_end && a_process_returned(mpirun.exit_code)) return judge_mpirun_alone(mpirun.exit_code);
  if (agreed_end) return {};
  if (mpirun.ended_by) {
    return {signal_base + *mpirun.ended_by, fmt::format("mpirun was killed by {}", signal_name(*mpirun.ended_by))};
  }
  const bool all_report_here = reports.started >= processes;
  if (mpirun.exit_code == 0 && all_report_here) {
    return {unrecoverable, "the application did not finish: every process that could have done so was killed"};
  }
  return judge_mpirun_alone(mpirun.exit_code);
}

}  // namespace mend::jobs
