// The exit code of a simulation that `mend simulate` runs: 0; 2 for wrong arguments, 1 for other errors, each told in a
// sentence.

#pragma once

#include "base/error.hpp"
#include "base/files/whole_file.hpp"
#include "base/telemetry/written_output.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace mend::bench {

/// Writes the numbers to `file`, unless it has no name. Throws EnvironmentError.
inline void write_json(const std::string& file, const nlohmann::json& numbers) {
  if (file.empty()) return;
  try {
    write_whole(file, numbers.dump(2) + "\n");
  } catch (const EnvironmentError& error) {
    throw EnvironmentError("--json " + file + " cannot be written: " + error.what());
  }
}

/// Returns the exit code of `run`, which throws UsageError for arguments that do not fit together.
inline int exit_code_of(int (*run)(int, char**), int argc, char** argv) {
  try {
    return written_or_failed(run(argc, argv));
  } catch (const UsageError& error) {
    std::fprintf(stderr, "mend: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mend: %s\n", error.what());
    return 1;
  }
}

}  // namespace mend::bench
