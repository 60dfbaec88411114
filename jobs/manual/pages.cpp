#include "jobs/manual/pages.hpp"

#include "jobs/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

namespace mend::jobs {
namespace {

/// Those that --help shows.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_name().empty() && !one->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// "-n" and "--ranks", short ones first; empty for a positional argument.
std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const auto& name : option.get_snames()) flags.push_back("-" + name);
  for (const auto& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

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

std::string roff_option(const CLI::Option& option) {
  std::string head;
  for (const std::string& flag : flags_of(option))
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(flag));
  if (head.empty()) head = fmt::format("\\fI{}\\fR", roff(option.get_name(true)));
  if (takes_value(option) && !flags_of(option).empty())
    head += fmt::format(" \\fI{}\\fR", roff(option.get_type_name().empty() ? "VALUE" : option.get_type_name()));
  std::string text = one_line(option.get_description());
  if (!option.get_default_str().empty()) text += fmt::format(" (default {})", option.get_default_str());
  if (!option.get_envname().empty()) text += fmt::format(" (environment: {})", option.get_envname());
  return fmt::format(".TP\n{}\n{}\n", head, roff(text));
}

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* one : subcommands_of(app)) words += one->get_name() + " ";
  for (const CLI::Option* option : options_of(app))
    for (const std::string& flag : flags_of(*option)) words += flag + " ";
  if (!words.empty()) words.pop_back();
  return words;
}

/// An option in the form that zsh's _arguments takes: brackets and colons of the text are escaped.
std::string zsh_option(const CLI::Option& option, const std::string& flag) {
  std::string text;
  for (const char c : one_line(option.get_description())) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
    text += c;
  }
  return in_single_quotes(fmt::format("{}[{}]{}", flag, text, takes_value(option) ? ":value:_files" : ""));
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& name, const std::string& version) {
  std::string command = name;
  std::ranges::replace(command, '-', ' ');
  std::string page = fmt::format(".TH {} 1 \"\" \"mend {}\" \"User Commands\"\n", roff(upper(name)), version);
  page += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(one_line(app.get_description())));
  page += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [\\fIoptions\\fR]", roff(command));
  const auto subcommands = subcommands_of(app);
  if (!subcommands.empty()) page += " \\fIcommand\\fR";
  for (const CLI::Option* option : options_of(app))
    if (flags_of(*option).empty()) page += fmt::format(" \\fI{}\\fR", roff(option->get_name(true)));
  page += "\n";
  if (!subcommands.empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* one : subcommands)
    page += fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fB{}\\-{}\\fR(1)\n", roff(one->get_name()),
                        roff(one_line(one->get_description())), roff(name), roff(one->get_name()));
  page += ".SH OPTIONS\n";
  for (const CLI::Option* option : options_of(app)) page += roff_option(*option);
  if (const std::string footer = app.get_footer(); !footer.empty())
    page += ".SH NOTES\n.nf\n" + roff(footer) + "\n.fi\n";
  return page;
}

std::string bash_completion(const CLI::App& mend) {
  std::string cases;
  for (const CLI::App* one : subcommands_of(mend))
    cases += fmt::format("    {}) words={} ;;\n", one->get_name(), in_single_quotes(words_of(*one)));
  return fmt::format(
      R"BASH(# Completion of mend for bash: source it, or put it into ~/.local/share/bash-completion/completions/mend
_mend() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words={} i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] && return  # the program's own: files
  done
  if ((COMP_CWORD > 1)); then
    words=
    case ${{COMP_WORDS[1]}} in
{}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _mend mend
)BASH",
      in_single_quotes(words_of(mend)), cases);
}

std::string zsh_completion(const CLI::App& mend) {
  std::string commands;
  std::string cases;
  for (const CLI::App* one : subcommands_of(mend)) {
    commands += fmt::format("    {}\n", in_single_quotes(one->get_name() + ":" + one_line(one->get_description())));
    cases += fmt::format("    {}) _arguments \\\n", one->get_name());
    for (const CLI::Option* option : options_of(*one))
      for (const std::string& flag : flags_of(*option)) cases += "      " + zsh_option(*option, flag) + " \\\n";
    cases += "      '*:file:_files' ;;\n";
  }
  return fmt::format(
      R"ZSH(#compdef mend
# Completion of mend for zsh: put it into a folder of $fpath as _mend
_mend() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{}  esac
}}
compdef _mend mend
)ZSH",
      commands, cases);
}

}  // namespace mend::jobs
