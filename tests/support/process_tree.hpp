#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace support {

/// The processes that descend from `ancestor`, it not included, as /proc has them now. Zombies are left out.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// What each of these processes is doing: its command line and, by gdb, the stacks of its threads.
std::string stacks_of(const std::vector<pid_t>& processes);

}  // namespace support
