#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace support {

/// The descendants of `ancestor`, without zombies, according to /proc.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// The program that `process` runs; empty if the process is gone.
std::filesystem::path program_of(pid_t process);

/// The content of a file, for example in /proc; empty if it cannot be read.
std::string text_of(const std::filesystem::path& file);

/// The state of these processes: the command line of each and, from gdb, the stacks of its threads.
std::string stacks_of(const std::vector<pid_t>& processes);

}  // namespace support
