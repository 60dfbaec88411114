#include "jobs/manual/description.hpp"

#include "jobs/program_argument.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace mend::jobs {
namespace {

std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// The words in "TEXT:{checkpoint,kill}". Of "replicas:K", where K is a number, the part before it.
std::vector<std::string> words_in_braces(const std::string& type) {
  const auto begin = type.find('{');
  const auto end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> words;
  std::istringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(list, word, ',');) {
    if (const auto colon = word.find(':'); colon != std::string::npos) word.erase(colon + 1);
    words.push_back(word);
  }
  return words;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

DescribedOption describe(const CLI::Option& option) {
  const std::string type = option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
  DescribedOption described{.flags = {},
                            .name = option.get_name(true),
                            .type = type,
                            .takes_value = option.get_items_expected_max() > 0,
                            .is_required = option.get_required(),
                            .takes_several = option.get_items_expected_max() > 1,
                            .values = words_in_braces(type),
                            .takes_list = has(type, ",..."),
                            .takes_interfaces = has(type, "INTERFACE"),
                            .text = one_line(option.get_description()),
                            .initial = option.get_default_str(),
                            .variable = option.get_envname()};
  for (const auto& name : option.get_snames()) described.flags.push_back("-" + name);
  for (const auto& name : option.get_lnames()) described.flags.push_back("--" + name);
  return described;
}

}  // namespace

Description describe(const CLI::App& app) {
  Description described{
      app.get_name(), one_line(app.get_description()), app.get_footer(), ends_with_program(app), {}, {}};
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); }))
    described.options.push_back(describe(*option));
  const auto is_shown = [](const CLI::App* one) { return !one->get_name().empty() && !one->get_group().empty(); };
  for (const CLI::App* one : app.get_subcommands(is_shown)) described.commands.push_back(describe(*one));
  return described;
}

}  // namespace mend::jobs
