// A program that a check runs with a time limit: its output, and how it ended.

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace mend::jobs {

struct ProgramEnd {
  int exit_code = -1;   ///< 128 + the signal that ended it; 127 if it could not be started
  bool in_time = true;  ///< false: it was ended, with all processes of its process group
  std::string output;   ///< standard output
  std::string errors;   ///< standard error

  bool succeeded() const { return in_time && exit_code == 0; }
  /// Returns the first line of standard error that is no note or, without one, how the program ended.
  std::string complaint() const;
};

/// Runs `line` with empty standard input. After the limit, its process group gets SIGTERM, and SIGKILL five seconds
/// later. Local. Throws EnvironmentError if no process can be made; Interrupted (jobs/doctor/held_signals.hpp).
ProgramEnd run_program(const std::vector<std::string>& line, std::chrono::seconds limit);

}  // namespace mend::jobs
