// What a process that the job has started hangs on until it is taken in: should the one that started it die, the kernel
// ends it, whatever it is doing, and even when it is stopped. Nobody else could: it is not known to the others yet.
//
// The signal comes from a pipe of the host's, in which nobody ever writes. Whoever is started opens its reading end, as
// soon as it is loaded, and asks the kernel for SIGKILL when that has news (F_SETSIG). There are news when nobody is
// left who could write: the host has let go, or is dead, and the kernel has closed what it had open.

#pragma once

#include <string>

namespace mend {

/// The host's end. All that it has started hang on the same.
class ParentDeathSignal {
 public:
  /// Throws EnvironmentError when this process can open no more files.
  ParentDeathSignal();
  /// Ends those who still hang on it.
  ~ParentDeathSignal();
  ParentDeathSignal(const ParentDeathSignal&) = delete;
  ParentDeathSignal& operator=(const ParentDeathSignal&) = delete;

  /// What those on this machine are told of it (launch::parent_death_variable).
  std::string name() const;

 private:
  int end_ = -1;
};

/// In a process that the job has started: opens the pipe, and asks the kernel for the signal. Returns the reading end;
/// -1 in any other process. Called before main (framework/process/process_context.cpp). Local.
int take_parent_death_signal();

/// This process has been taken in: it hangs on nobody any more. Local.
void disarm_parent_death_signal();

}  // namespace mend
