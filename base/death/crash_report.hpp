// A fault of the program while nobody but the launcher can be told of it: before the processes watch each other, and
// after the end. mpirun does not tell one process that crashes from one that is killed from outside. So the process
// says it itself (base/telemetry/job_status.hpp), before it dies.

#pragma once

namespace mend {

/// When a process crashes.
enum class CrashStage {
  early,  ///< before it watches others and is watched
  late,   ///< after mend::run
};

/// From now on the launcher is told when a signal that stands for a fault of the program (SIGSEGV, SIGBUS, SIGFPE,
/// SIGILL, SIGABRT) ends this process; what else is done about that signal is done as before. Without a launcher
/// nothing is changed. Not told is a stack that overflows, on which no handler can run. Local; not in a signal handler.
void report_crashes(CrashStage stage = CrashStage::late);

/// The launcher is told no more, and signals are handled as they were before. Local.
void stop_reporting_crashes();

}  // namespace mend
