#include "jobs/manual/completion.hpp"

#include "jobs/shell_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

namespace mend::jobs {
namespace {

constexpr const char* list_interfaces = "$(cd /sys/class/net 2>/dev/null && echo *)";

/// Calls `visit` for each command and those below it, with its words: "run", "simulate agreement".
void for_each_command(const Description& of, const std::string& words,
                      const std::function<void(const std::string& words, const Description& command)>& visit) {
  for (const Description& one : of.commands) {
    const std::string path = words.empty() ? one.name : words + " " + one.name;
    visit(path, one);
    for_each_command(one, path, visit);
  }
}

/// Returns the words that may follow a command: commands, options, and the words that its arguments take.
std::string words_after(const Description& command) {
  std::vector<std::string> words;
  for (const Description& one : command.commands) words.push_back(one.name);
  for (const DescribedOption& option : command.options) {
    const std::vector<std::string>& own = option.flags.empty() ? option.values : option.flags;
    words.insert(words.end(), own.begin(), own.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

bool has_words(const DescribedOption& option) { return !option.values.empty() || option.takes_interfaces; }

/// Lines of a case of bash, which set the words that the options of a command take.
std::string bash_values(const std::string& command, const Description& described) {
  std::string cases;
  for (const DescribedOption& option : described.options) {
    if (!has_words(option)) continue;
    for (const std::string& flag : option.flags) {
      cases += fmt::format("    {}) values=\"{}{}{}\"{} ;;\n", in_single_quotes(command + " " + flag),
                           fmt::join(option.values, " "), option.takes_interfaces ? " " : "",
                           option.takes_interfaces ? list_interfaces : "", option.takes_list ? " list=1" : "");
    }
  }
  return cases;
}

/// Escapes brackets, colons and backslashes, which are special to zsh.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// Returns the action by which zsh's _arguments completes a value.
std::string zsh_action(const DescribedOption& option) {
  std::vector<std::string> words;
  for (const std::string& value : option.values) words.push_back(zsh_text(value));
  if (option.takes_interfaces) words.emplace_back(list_interfaces);
  if (words.empty()) return "_files";
  return option.takes_list ? fmt::format("_values -s , value {}", fmt::join(words, " "))
                           : fmt::format("({})", fmt::join(words, " "));
}

/// An option, or an argument, in the form that zsh's _arguments takes.
std::string zsh_arguments(const Description& command) {
  std::string lines;
  const auto append = [&lines](const std::string& word) { lines += "      " + in_single_quotes(word) + " \\\n"; };
  for (const DescribedOption& option : command.options) {
    for (const std::string& flag : option.flags) {
      append(fmt::format("{}[{}]{}", flag, zsh_text(option.text),
                         option.takes_value ? ":value:" + zsh_action(option) : ""));
    }
    if (option.flags.empty() && has_words(option))
      append(fmt::format("1:{}:{}", zsh_text(option.name), zsh_action(option)));
  }
  return lines;
}

}  // namespace

std::string bash_completion(const Description& mend, const Description& of_programs) {
  std::string words;
  std::string values;
  for_each_command(mend, "", [&](const std::string& command, const Description& described) {
    words += fmt::format("    {}) words={} ;;\n", in_single_quotes(command), in_single_quotes(words_after(described)));
    values += bash_values(command, described);
  });
  values += bash_values("--", of_programs);
  return fmt::format(
      R"BASH(# Completion of mend for bash: source it, or put it into ~/.local/share/bash-completion/completions/mend
_mend() {{
  local IFS=$' \t\n' current=${{COMP_WORDS[COMP_CWORD]}} flag=${{COMP_WORDS[COMP_CWORD-1]}} command= words= values= list= i
  COMPREPLY=()
  # --option=value comes as three words
  if [[ $current == = ]]; then
    current=
  elif [[ $flag == = ]] && ((COMP_CWORD > 2)); then
    flag=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}}
  [[ $command == simulate ]] && ((COMP_CWORD > 2)) && command+=" ${{COMP_WORDS[2]}}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] && command=--  # the program's own
  done
  [[ $command == run && ($current == --mend-* || $flag == --mend-*) ]] && command=--
  case "$command $flag" in
{}  esac
  if [[ $values ]]; then
    local before=
    [[ $list ]] && before=${{current%"${{current##*,}}"}}
    COMPREPLY=($(compgen -P "$before" -W "$values" -- "${{current#"$before"}}"))
    [[ ${{COMPREPLY[0]}} == *: ]] && compopt -o nospace 2>/dev/null
    return
  fi
  case $command in
    '') words={} ;;
    --) [[ $current == --mend-* ]] && words={} ;;
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _mend mend
)BASH",
      values, in_single_quotes(words_after(mend)), in_single_quotes(words_after(of_programs)), words);
}

std::string zsh_completion(const Description& mend, const Description& of_programs) {
  std::string commands;
  for (const Description& one : mend.commands)
    commands += fmt::format("    {}\n", in_single_quotes(one.name + ":" + one.text));
  std::string cases;
  for_each_command(mend, "", [&](const std::string& command, const Description& described) {
    cases += fmt::format("    {}) _arguments \\\n{}", in_single_quotes(command), zsh_arguments(described));
    cases += described.commands.empty()
                 ? "      '*:file:_files' ;;\n"
                 : fmt::format("      '1:command:({})' ;;\n", fmt::join(
                                                                  [&] {
                                                                    std::vector<std::string> names;
                                                                    for (const Description& one : described.commands)
                                                                      names.push_back(one.name);
                                                                    return names;
                                                                  }(),
                                                                  " "));
  });
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
  local command=$words[1]
  if [[ $command == simulate ]] && ((CURRENT > 2)); then
    command+=" $words[2]"
    shift words
    ((CURRENT--))
  fi
  if (($words[(I)--] > 0 && $words[(I)--] < CURRENT)); then
    command=--  # the program's own
  elif [[ $command == run && ($words[CURRENT] == --mend-* || $words[CURRENT-1] == --mend-*) ]]; then
    command=--
  fi
  case $command in
    --) _arguments \
{}      '*:file:_files' ;;
{}  esac
}}
compdef _mend mend
)ZSH",
      commands, zsh_arguments(of_programs), cases);
}

}  // namespace mend::jobs
