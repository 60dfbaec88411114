// The program to be run, which is the last part of a command's line: mend run, mend script.

#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <utility>

namespace mend::jobs {

/// Names the program in the usage of a command, because CLI11 does not see the words after two dashes.
class UsageWithProgram : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* command, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(command, std::move(name));
    usage.insert(usage.find_last_not_of('\n') + 1, " -- PROGRAM [ARGUMENTS...]");
    return usage;
  }
};

inline void end_with_program(CLI::App& command) { command.formatter(std::make_shared<UsageWithProgram>()); }

inline bool ends_with_program(const CLI::App& command) {
  return std::dynamic_pointer_cast<UsageWithProgram>(command.get_formatter()) != nullptr;
}

}  // namespace mend::jobs
