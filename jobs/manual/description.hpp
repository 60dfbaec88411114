// The description of a command, taken from the parser of the command line. Man pages and completions are made from it,
// so that they agree with --help. The programs of mend simulate and the mini-apps print it as JSON.

#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace mend::jobs {

/// The argument with which a program of this kind prints its description as JSON.
inline constexpr const char* describe_argument = "--mend-describe";

struct DescribedOption {
  std::vector<std::string> flags;  ///< "-n" and "--ranks", short ones first; empty for a positional argument
  std::string name;                ///< of a positional argument
  std::string type;                ///< of its value, as --help shows it
  bool takes_value = false;
  bool is_required = false;
  bool takes_several = false;       ///< values, one after the other
  std::vector<std::string> values;  ///< the words that it takes, as far as --help names them: those in {} of the type
  bool takes_list = false;          ///< a list of these words, separated by commas
  bool takes_interfaces = false;    ///< or names of network interfaces
  std::string text;                 ///< in one line
  std::string initial;              ///< its default
  std::string variable;             ///< of the environment
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DescribedOption, flags, name, type, takes_value, is_required, takes_several, values,
                                   takes_list, takes_interfaces, text, initial, variable)

struct Description {
  std::string name;  ///< "run"
  std::string text;  ///< in one line
  std::string footer;
  bool ends_with_program = false;  ///< "-- PROGRAM [ARGUMENTS...]"
  std::vector<DescribedOption> options;
  std::vector<Description> commands;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Description, name, text, footer, ends_with_program, options, commands)

/// Describes what --help shows of `app` and of its subcommands. Pure.
Description describe(const CLI::App& app);

}  // namespace mend::jobs
