// What the kernel tells of this machine's processes.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mend::jobs {

enum class Condition {
  alive,
  stopped,  ///< by a signal, until SIGCONT; not by a debugger
  gone,     ///< ended, or there never was one
};

/// Local.
Condition condition_of(pid_t process);

/// What the kernel calls it: its program's file, up to 15 characters. Empty if it is gone. Local.
std::string name_of(pid_t process);

/// Those that have not been waited for included. Local.
std::vector<pid_t> children_of(pid_t parent);

/// Whether `process` is a child of `ancestor`, or of one of its children, and so on. Local.
bool descends_from(pid_t process, pid_t ancestor);

}  // namespace mend::jobs
