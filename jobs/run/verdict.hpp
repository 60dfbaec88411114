// Did the application finish correctly? What mpirun says is weighed against what the processes themselves reported.
//
// mpirun's exit code says what processes that lived to exit returned, and nothing of those that were killed: it is 0
// when all were. The status file (base/telemetry/job_status.hpp) closes the gap, but only for processes of this node.
// Hence:
//
//   - a process has called MPI_Abort: that ends the job, whatever the others do;
//   - the processes reported a common end: that counts, unless one of them then exited with an error of its own. One
//     that exits before, with whatever code, is a death among others, though mpirun returns what it did;
//   - a process could not go on after that, by an error of its own, as it says: the job has failed;
//   - mpirun was killed by somebody else: it takes the job with it, and what processes say of that is chance;
//   - mend run was sent SIGUSR1 or SIGUSR2, mpirun passed it on, and returns that it has ended the processes;
//   - every process of the job reported its start here, and none its end: it has not finished, whatever mpirun says;
//   - processes crashed before the job had begun: that is the program's fault, whoever waited for them;
//   - processes of the program came to life here, and none either started or exited: they were killed before that;
//   - processes started, and not all of them came through MPI_Init: what mpirun returns is the word of the MPI library,
//     which ends those that a death there has cut off;
//   - some run elsewhere, or the program does not use mend at all: mpirun's exit code is all there is.

#pragma once

#include "jobs/run/child.hpp"
#include "jobs/report/reports.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>

namespace mend::jobs {

/// What the launcher has seen itself.
struct Sight {
  bool all_here = false;                ///< all processes were launched on this machine
  std::optional<int> lost_at_start{};   ///< how many of them had died when the job was given up before it had begun
  std::chrono::seconds start_limit{0};  ///< after which it was
  bool killed_at_start = false;         ///< before that, a process that stood still was killed
  std::set<pid_t> killed_at_end{};      ///< those that the launcher has killed, and has told of
};

/// What `mend run` exits with, and the sentence for the user; empty when the application has already said what is
/// wrong, or nothing is.
struct Verdict {
  int exit_code = 0;
  std::string sentence;
  bool did_not_start = false;  ///< the library has ended the processes, for some could not be reached in MPI_Init
};

/// "process 1 was ended by SIGSEGV before the job had begun"; empty for none. Pure.
std::string describe(const std::vector<EarlyCrash>& crashes);

/// Pure. `processes` is how many were launched.
Verdict judge(const ChildEnd& mpirun, const Reports& reports, int processes, const Sight& sight = {});

}  // namespace mend::jobs
