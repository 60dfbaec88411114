// Checks that the system can run the program of a job. If it cannot, mpirun reports only a signal or a code of its own.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace mend::jobs {

/// Returns the file that is run under the name `program`: that path if it has a slash, otherwise the first executable
/// file of that name on PATH; nothing if there is no executable file. Local.
std::optional<std::filesystem::path> find_program(const std::string& program);

/// Returns a sentence on what prevents the system from running `file`, called `name` in it; empty if there is no
/// problem, or if this cannot be tested. The system itself is asked: a process tries to become the program, and ptrace
/// stops it before the program's first instruction. Local.
std::string obstacle_to_running(const std::filesystem::path& file, const std::string& name);

}  // namespace mend::jobs
