// Reports a fault of the program to the launcher while no other process can notice it: before the processes watch each
// other, and after the end of the job. mpirun does not distinguish a process that crashes from one that is killed from
// outside. So the process reports the crash itself (base/telemetry/job_status.hpp) before it dies.

#pragma once

namespace mend {

/// The time at which a process crashes.
enum class CrashStage {
  early,  ///< before it watches others and is watched
  late,   ///< after mend::run
};

/// From now on, reports to the launcher when a fault signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) ends this
/// process. The previous handling of the signal stays in effect. Does nothing without a launcher. A stack overflow is
/// not reported, because no handler can run on that stack. Local; not in a signal handler.
void report_crashes(CrashStage stage = CrashStage::late);

/// Stops reporting, and restores the previous handling of the signals. Local.
void stop_reporting_crashes();

}  // namespace mend
