// mend completion and mend man: print shell completions, and the man pages of the command and of the mini-apps.

#include "base/error.hpp"
#include "framework/options.hpp"
#include "jobs/commands.hpp"
#include "jobs/doctor/program.hpp"
#include "jobs/manual/completion.hpp"
#include "jobs/manual/pages.hpp"
#include "jobs/simulate/simulations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace mend::jobs {
namespace {

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(ExitCode::ok);
}

/// The mini-apps (apps/), which stand beside the command.
constexpr std::array<std::string_view, 2> mini_apps{"stencil", "minife"};

ProgramEnd asked_for_description(const std::filesystem::path& program) {
  constexpr std::chrono::seconds patience{20};
  return run_program({program.string(), describe_argument}, patience);
}

std::optional<Description> description_in(const ProgramEnd& asked) {
  const auto said = nlohmann::json::parse(asked.output, nullptr, /*allow_exceptions=*/false);
  if (!asked.succeeded() || said.is_discarded()) return std::nullopt;
  return said.get<Description>();
}

/// Returns the descriptions that the simulations print. They are separate programs, which may not be installed.
std::vector<Description> simulations() {
  std::vector<Description> found;
  for (const std::string_view subject : simulated_subjects) {
    const auto description = description_in(asked_for_description(program_simulating(subject)));
    if (!description) continue;
    found.push_back(*description);
    found.back().name = subject;
  }
  return found;
}

Description mini_app(const std::string& name) {
  const auto program = std::filesystem::canonical("/proc/self/exe").parent_path() / name;
  const ProgramEnd asked = asked_for_description(program);
  if (auto description = description_in(asked)) return *std::move(description);
  throw EnvironmentError(
      fmt::format("{} does not describe itself ({}); it comes with mend's mini-apps (MEND_BUILD_APPS)",
                  program.string(), asked.complaint()));
}

Description described(const CLI::App& mend) {
  Description all = describe(mend);
  for (Description& command : all.commands)
    if (command.name == "simulate") command.commands = simulations();
  return all;
}

Description options_of_programs() {
  Options unused;
  CLI::App program;
  program.set_help_flag();
  add_options(program, unused);
  return describe(program);
}

/// The command of these words, joined by dashes: "run", "simulate-agreement".
const Description* command_named(const Description& among, std::string_view words) {
  for (const Description& one : among.commands) {
    if (one.name == words) return &one;
    const bool is_below = words.starts_with(one.name) && words.substr(one.name.size()).starts_with('-');
    const Description* const found = is_below ? command_named(one, words.substr(one.name.size() + 1)) : nullptr;
    if (found != nullptr) return found;
  }
  return nullptr;
}

int print_page(const CLI::App& mend, const std::string& command) {
  if (std::ranges::find(mini_apps, command) != mini_apps.end())
    return print(man_page(mini_app(command), command, MEND_VERSION));
  const Description all = described(mend);
  if (command.empty()) return print(man_page(all, "mend", MEND_VERSION));
  const Description* const named = command_named(all, command);
  if (named != nullptr) return print(man_page(*named, "mend-" + command, MEND_VERSION));
  throw UsageError(fmt::format("{} is not a command of mend that has a page: mend --help lists the commands", command));
}

/// "{run,report,...}", for the help and for completions.
std::string names_of_pages(const CLI::App& mend) {
  std::string names;
  for (const Description& one : describe(mend).commands) names += (names.empty() ? "" : ",") + one.name;
  for (const std::string_view subject : simulated_subjects) names += fmt::format(",simulate-{}", subject);
  for (const std::string_view app : mini_apps) names += fmt::format(",{}", app);
  return "{" + names + "}";
}

}  // namespace

void add_manual_commands(CLI::App& mend, Action& chosen) {
  auto shell = std::make_shared<std::string>();
  auto* completion = mend.add_subcommand("completion", "Print a script that completes mend's commands in a shell");
  completion->footer("bash: source <(mend completion bash)\nzsh: mend completion zsh > ~/.zfunc/_mend");
  completion->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback([shell, &mend, &chosen] {
    chosen = [shell, &mend] {
      auto* const make = *shell == "bash" ? &bash_completion : &zsh_completion;
      return print(make(described(mend), options_of_programs()));
    };
  });

  auto command = std::make_shared<std::string>();
  auto* man = mend.add_subcommand("man", "Print the man page of mend, of one of its commands, or of a mini-app");
  man->footer("To read it: mend man run | man -l -");
  man->add_option("command", *command, "The command or the mini-app; none: mend itself")
      ->type_name(names_of_pages(mend));
  man->callback([command, &mend, &chosen] { chosen = [command, &mend] { return print_page(mend, *command); }; });
}

}  // namespace mend::jobs
