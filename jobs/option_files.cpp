#include "jobs/option_files.hpp"

#include "base/error.hpp"
#include "framework/option_file.hpp"
#include "jobs/run/placement.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <set>

namespace mend::jobs {
namespace {

/// Returns the file that the program's `flag` names, or else the variable; nothing without them.
std::optional<std::string> file_named(const char* flag, const char* variable, const std::vector<std::string>& program) {
  if (auto file = told(flag, program)) return file;
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

/// Gives an option of `command` its value from a file. `from_file`: the options that this file has set.
void take(CLI::App& command, const CLI::ConfigItem& item, std::set<const CLI::Option*>& from_file) {
  CLI::Option* const option = command.get_option_no_throw("--" + item.name);
  if (option == nullptr) throw UsageError(fmt::format("'{}' is not an option of mend run", item.name));
  if (!option->get_configurable())
    throw UsageError(fmt::format("'{}' is of one job, and not for files: give it to mend run", item.name));
  if (!option->empty()) return;
  for (const CLI::Option* other : option->get_excludes()) {
    if (other->empty()) continue;
    if (!from_file.contains(other)) return;  // what was set before overrides this file
    throw UsageError(fmt::format("'{}' and '{}' exclude each other", item.name, other->get_single_name()));
  }
  if (option->get_expected_min() == 0) {
    option->add_result(option->get_flag_value(item.name, CLI::ConfigTOML().to_flag(item)));
  } else {
    option->add_result(item.inputs);
  }
  option->run_callback();
  from_file.insert(option);
}

void take_from(const std::string& said, const std::string& file, CLI::App& command) {
  const auto items = options_in_file(said, file, OptionTable::launcher);
  std::set<const CLI::Option*> from_file;
  try {
    for (const CLI::ConfigItem& item : items) take(command, item, from_file);
  } catch (const std::exception& error) {
    throw CLI::ValidationError(said, fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace

void take_options_from_files(CLI::App& command, const std::vector<std::string>& program) {
  const auto users = file_named("--mend-config", "MEND_CONFIG", program);
  const auto sites = file_named("--mend-site-config", "MEND_SITE_CONFIG", program).value_or(usual_site_file);
  if (users) take_from("--mend-config", *users, command);
  if (is_site_file(sites)) take_from("--mend-site-config", sites, command);
}

}  // namespace mend::jobs
