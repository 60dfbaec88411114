// The command line and the exit code of a simulation that `mend simulate` runs: 0; 2 for wrong arguments, 1 for other
// errors, each told in a sentence.

#pragma once

#include "base/error.hpp"
#include "base/files/whole_file.hpp"
#include "base/telemetry/written_output.hpp"

#include "jobs/manual/description.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace mend::bench {

/// Returns the name of an option that was given "nan", which passes every check of a range; nothing if there is none.
inline std::optional<std::string> option_without_number(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& text : option->results()) {
      char* end = nullptr;
      if (std::isnan(std::strtod(text.c_str(), &end)) && *end == '\0') return option->get_name();
    }
  }
  return std::nullopt;
}

/// Returns the exit code if the command line is wrong, or asks for help or for the description alone.
inline std::optional<int> exit_code_of_parsing(CLI::App& app, int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == jobs::describe_argument) {
    std::puts(nlohmann::json(jobs::describe(app)).dump().c_str());
    return 0;
  }
  try {
    app.parse(argc, argv);
    if (const auto wrong = option_without_number(app)) {
      std::fprintf(stderr, "mend: %s: nan is no number\n", wrong->c_str());
      return 2;
    }
    return std::nullopt;
  } catch (const CLI::CallForHelp& help) {
    return written_or_failed(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "mend: %s\n", error.what());
    return 2;
  }
}

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
