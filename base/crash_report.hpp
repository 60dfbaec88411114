// A fault of a program that has finished: mpirun does not tell one process that crashes from one that is killed from
// outside, and the job has outlived both. So the process says it itself (base/job_status.hpp), before it dies.

#pragma once

namespace mend {

/// From now on the launcher is told when a signal that stands for a fault of the program (SIGSEGV, SIGBUS, SIGFPE,
/// SIGILL, SIGABRT) ends this process; what else is done about that signal is done as before. Without a launcher
/// nothing is changed. Not told is a stack that overflows, on which no handler can run. Local; once in a process.
void report_crashes();

}  // namespace mend
