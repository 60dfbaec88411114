// Ends a process that the job has started if its host, the process that started it, dies before the process is
// admitted. The kernel does this in any state of the process, even if it is stopped. No other process could, because
// none knows it yet.
//
// The host has a pipe and never writes to it. The started process opens the reading end as soon as it is loaded, and
// asks the kernel for SIGKILL when the pipe has an event (F_SETSIG). The event comes when the last writing end is
// closed: by the host, or by the kernel when the host dies.

#pragma once

#include <string>

namespace mend {

/// The host's end of the pipe, for all processes that it has started.
class ParentDeathSignal {
 public:
  /// Throws EnvironmentError if this process cannot open more files.
  ParentDeathSignal();
  /// Ends the processes that have not been admitted.
  ~ParentDeathSignal();
  ParentDeathSignal(const ParentDeathSignal&) = delete;
  ParentDeathSignal& operator=(const ParentDeathSignal&) = delete;

  /// Returns the name with which processes on this machine open the pipe (launch::parent_death_variable).
  std::string name() const;

 private:
  int end_ = -1;
};

/// In a process that the job has started: opens the pipe, asks the kernel for the signal, and returns the reading end.
/// In other processes: returns -1. Called before main (framework/process/process_context.cpp). Local.
int take_parent_death_signal();

/// Ends this when the process is admitted: the host's death does not end it any more. Local.
void disarm_parent_death_signal();

}  // namespace mend
