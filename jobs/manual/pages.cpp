#include "jobs/manual/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace mend::jobs {
namespace {

/// Escapes characters that are special to roff: backslashes, dashes, and a full stop or quote at the beginning of a
/// line.
std::string roff(const std::string& text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    line_begins = c == '\n';
  }
  return escaped;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string roff_option(const DescribedOption& option) {
  std::string head;
  for (const std::string& flag : option.flags)
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(flag));
  if (head.empty()) head = fmt::format("\\fI{}\\fR", roff(option.name));
  if (option.takes_value && !option.flags.empty())
    head += fmt::format(" \\fI{}\\fR", roff(option.type.empty() ? "VALUE" : option.type));
  std::string text = option.text;
  if (!option.initial.empty()) text += fmt::format(" (default {})", option.initial);
  if (!option.variable.empty()) text += fmt::format(" (environment: {})", option.variable);
  return fmt::format(".TP\n{}\n{}\n", head, roff(text));
}

/// A positional argument in the synopsis, as the usage of --help has it: in brackets unless it is required.
std::string roff_argument(const DescribedOption& argument) {
  const std::string name = fmt::format("\\fI{}\\fR{}", roff(argument.name), argument.takes_several ? "..." : "");
  return argument.is_required ? name : fmt::format("[{}]", name);
}

std::string roff_synopsis(const Description& command, const std::string& name) {
  std::string words = name;
  std::ranges::replace(words, '-', ' ');
  std::string synopsis = fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [\\fIoptions\\fR]", roff(words));
  if (!command.commands.empty()) synopsis += " \\fIcommand\\fR";
  for (const DescribedOption& option : command.options)
    if (option.flags.empty()) synopsis += " " + roff_argument(option);
  if (command.ends_with_program) synopsis += " \\-\\- \\fIprogram\\fR [\\fIarguments\\fR...]";
  return synopsis + "\n";
}

}  // namespace

std::string man_page(const Description& command, const std::string& name, const std::string& version) {
  const std::size_t end_of_first = std::min(command.text.find(". "), command.text.size());
  const std::string rest = command.text.substr(std::min(end_of_first + 2, command.text.size()));
  std::string page = fmt::format(".TH {} 1 \"\" \"mend {}\" \"User Commands\"\n", roff(upper(name)), version);
  page += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.text.substr(0, end_of_first)));
  page += roff_synopsis(command, name);
  if (!rest.empty()) page += fmt::format(".SH DESCRIPTION\n{}\n", roff(rest));
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const Description& one : command.commands)
    page += fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fB{}\\-{}\\fR(1)\n", roff(one.name), roff(one.text), roff(name),
                        roff(one.name));
  page += ".SH OPTIONS\n";
  for (const DescribedOption& option : command.options) page += roff_option(option);
  if (!command.footer.empty()) page += ".SH NOTES\n.nf\n" + roff(command.footer) + "\n.fi\n";
  return page;
}

}  // namespace mend::jobs
