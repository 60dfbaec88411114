// Decides whether the application has finished correctly, from mpirun's exit code and the reports of the processes.
//
// mpirun's exit code covers only processes that lived to exit, and not those that were killed: it is 0 if all were
// killed. The status file (base/telemetry/job_status.hpp) adds the missing information, but only for processes on this
// node. The rules are:
//
//   - a process has called MPI_Abort: that ends the job, even if other processes report an end;
//   - the processes reported a common end: its code counts, unless one of them then exited with an error of its own. A
//     process that exits before counts as dead like any other, although mpirun returns its code;
//   - a process reported an error of its own after that end: the job has failed;
//   - mpirun was killed by another process: its job dies with it, and the reports of the processes then are random;
//   - mend run was sent SIGUSR1 or SIGUSR2, mpirun passed it on, and returns that it has ended the processes;
//   - every process of the job reported its start here, and none its end: the job has not finished, whatever mpirun
//     returns;
//   - processes crashed before the job had begun: that is the program's fault, even if others waited for them;
//   - processes of the program were loaded here, and none started or exited: they were killed before that;
//   - processes started, and not all of them came through MPI_Init: mpirun's code comes from the MPI library, which
//     ends the processes that a death there has cut off;
//   - some processes run on other nodes, or the program does not use mend: only mpirun's exit code is known.

#pragma once

#include "jobs/run/child.hpp"
#include "jobs/watch/status_reports.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

namespace mend::jobs {

/// The launcher's own observations.
struct LauncherView {
  bool all_here = false;                ///< all processes were launched on this machine
  std::optional<int> lost_at_start{};   ///< number of processes that had died when the job was given up before it had
                                        ///< begun
  std::chrono::seconds start_limit{0};  ///< the time after which it was given up
  std::size_t late_reports = 0;         ///< of the start, in the last quarter of that time
  bool killed_at_start = false;         ///< before that, a stopped process was killed
  bool mpirun_was_stopped = false;      ///< by a signal, for long
  std::set<pid_t> killed_at_end{};      ///< processes that the launcher has killed and reported
};

/// The exit code of `mend run`, and a sentence for the user. The sentence is empty if the application has already
/// reported the problem, or if there is none.
struct Verdict {
  int exit_code = 0;
  std::string sentence;
  bool did_not_start = false;  ///< the library has ended the processes, because some could not be reached in MPI_Init
};

/// "process 1 was ended by SIGSEGV before the job had begun"; empty for none. Pure.
std::string describe(const std::vector<EarlyCrash>& crashes);

/// Judges a job. `processes`: the number launched. Pure.
Verdict judge(const ChildEnd& mpirun, const Reports& reports, int processes, const LauncherView& view = {});

/// Returns the reason for the end of the job that a process has written to standard error and that was not shown: an
/// mpirun that ends a job for an error may lose what it has not passed on. Empty if it was shown, or if there is none.
/// Pure.
std::string lost_reason(const ChildEnd& mpirun, const Reports& reports);

}  // namespace mend::jobs
