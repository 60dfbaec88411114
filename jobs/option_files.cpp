#include "jobs/option_files.hpp"

#include "base/error.hpp"
#include "framework/option_file.hpp"
#include "jobs/run/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace mend::jobs {
namespace {

/// Returns the file that the program's `flag` names, or else the variable; nothing without them.
std::optional<std::string> file_named(const char* flag, const char* variable, const std::vector<std::string>& program) {
  if (auto file = told(flag, program)) return file;
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<std::string> users_file(const std::vector<std::string>& program) {
  return file_named("--mend-config", "MEND_CONFIG", program);
}

/// Passes the user's file and the site's to `use`, with the option that names the file.
template <class Use>
void for_each_file(const std::vector<std::string>& program, const Use& use) {
  const auto users = users_file(program);
  const auto sites = file_named("--mend-site-config", "MEND_SITE_CONFIG", program).value_or(usual_site_file);
  if (users) use("--mend-config", *users);
  if (is_site_file(sites)) use("--mend-site-config", sites);
}

/// The variable of an option of programs: "MEND_ON_TERM" for "on-term".
std::string variable_of(std::string_view name) {
  std::string variable = "MEND_";
  for (const char letter : name)
    variable += letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return variable;
}

/// Returns true if mend run would hand this option on to the program, for which the user has set it already.
/// --network is no such option, because it is not for the program alone.
bool is_left_to_program(const CLI::ConfigItem& item, const std::vector<std::string>& program) {
  const bool is_handed_on = item.name == "on-term" || item.name == "check-determinism";
  return is_handed_on && is_set_for_program(item.name, program);
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

void take_all(const std::string& said, const std::string& file, const std::vector<CLI::ConfigItem>& items,
              CLI::App& command) {
  std::set<const CLI::Option*> from_file;
  try {
    for (const CLI::ConfigItem& item : items) take(command, item, from_file);
  } catch (const std::exception& error) {
    throw CLI::ValidationError(said, fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace

void take_options_from_files(CLI::App& command, const std::vector<std::string>& program) {
  for_each_file(program, [&](const std::string& said, const std::string& file) {
    auto items = options_in_file(said, file, OptionTable::launcher);
    std::erase_if(items, [&](const CLI::ConfigItem& item) { return is_left_to_program(item, program); });
    take_all(said, file, items, command);
  });
}

bool is_set_for_program(const std::string& name, const std::vector<std::string>& program) {
  if (const char* const value = std::getenv(variable_of(name).c_str()); value != nullptr && *value != '\0') return true;
  const auto file = users_file(program);
  if (!file) return false;
  const auto items = options_in_file("--mend-config", *file, OptionTable::programs);
  return std::ranges::find(items, name, &CLI::ConfigItem::name) != items.end();
}

void take_options_of_programs(CLI::App& command, const std::vector<std::string>& names) {
  for_each_file({}, [&](const std::string& said, const std::string& file) {
    auto items = options_in_file(said, file, OptionTable::programs);
    std::erase_if(items,
                  [&](const CLI::ConfigItem& item) { return std::ranges::find(names, item.name) == names.end(); });
    take_all(said, file, items, command);
  });
}

}  // namespace mend::jobs
