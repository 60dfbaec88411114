#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace support {

/// The processes that descend from `ancestor`, it not included, as /proc has them now. Zombies are left out.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// The program that `process` runs; empty when it is gone.
std::filesystem::path program_of(pid_t process);

/// What stands in a file, such as one of /proc's; empty when there is nothing to read, or not any more.
std::string text_of(const std::filesystem::path& file);

/// What each of these processes is doing: its command line and, by gdb, the stacks of its threads.
std::string stacks_of(const std::vector<pid_t>& processes);

}  // namespace support
