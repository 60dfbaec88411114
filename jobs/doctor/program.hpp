// A program that a check runs: what it says and how it ends, within a time limit.

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace mend::jobs {

struct ProgramEnd {
  int exit_code = -1;   ///< 128 + the signal, when one ended it; 127 when it could not be started
  bool in_time = true;  ///< false: it was killed, with all that it had started in its process group
  std::string output;   ///< standard output
  std::string errors;   ///< standard error

  bool succeeded() const { return in_time && exit_code == 0; }
  /// The first line that it said on standard error, or else how it ended.
  std::string complaint() const;
};

/// Runs `line` with nothing to read. Local. Throws EnvironmentError when no process can be made.
ProgramEnd run_program(const std::vector<std::string>& line, std::chrono::seconds limit);

}  // namespace mend::jobs
