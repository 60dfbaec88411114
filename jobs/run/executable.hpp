// Whether the system can run the program that a job is to be launched with. mpirun tells its user of a program that
// cannot be executed only by a signal or a code of its own.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace mend::jobs {

/// The file that is run by the name `program`: itself if it has a slash, else the first executable file of that name on
/// PATH; none if there is no executable file. Local.
std::optional<std::filesystem::path> find_program(const std::string& program);

/// What keeps the system from running `file`, as a sentence that calls it `name`; empty if nothing does, or if this
/// cannot be tried. The system itself is asked: a process tries to become the program, and is stopped by ptrace before
/// the program's first instruction. Local.
std::string obstacle_to_running(const std::filesystem::path& file, const std::string& name);

}  // namespace mend::jobs
