// The kernel's data on the processes of this machine.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mend::jobs {

enum class Condition {
  alive,
  stopped,  ///< by a signal, until SIGCONT; not by a debugger
  gone,     ///< ended, or never existed
};

/// Local.
Condition condition_of(pid_t process);

/// The kernel's name of the process: its program's file, up to 15 characters. Empty if it is gone. Local.
std::string name_of(pid_t process);

/// Returns true if `process` has waited for a child of its own that had ended. `process` may have ended, but must not
/// have been waited for. Local.
bool has_waited_for_children(pid_t process);

/// Returns the children of a process, including those that have ended and were not waited for. Local.
std::vector<pid_t> children_of(pid_t parent);

/// Returns true if `process` is a descendant of `ancestor`. Local.
bool descends_from(pid_t process, pid_t ancestor);

}  // namespace mend::jobs
