// mend completion and mend man: print shell completions and man pages.

#include "base/error.hpp"
#include "jobs/commands.hpp"
#include "jobs/manual/pages.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace mend::jobs {
namespace {

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(ExitCode::ok);
}

int print_page(const CLI::App& mend, const std::string& command) {
  if (command.empty()) return print(man_page(mend, "mend", MEND_VERSION));
  for (const CLI::App* one : mend.get_subcommands([](const CLI::App*) { return true; })) {
    if (one->get_name() == command) return print(man_page(*one, "mend-" + command, MEND_VERSION));
  }
  throw UsageError(fmt::format("{} is not a command of mend that has a page: mend --help lists the commands", command));
}

}  // namespace

void add_manual_commands(CLI::App& mend, Action& chosen) {
  auto shell = std::make_shared<std::string>();
  auto* completion = mend.add_subcommand("completion", "Print a script that completes mend's commands in a shell");
  completion->footer("bash: source <(mend completion bash)\nzsh: mend completion zsh > ~/.zfunc/_mend");
  completion->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback([shell, &mend, &chosen] {
    chosen = [shell, &mend] { return print(*shell == "bash" ? bash_completion(mend) : zsh_completion(mend)); };
  });

  auto command = std::make_shared<std::string>();
  auto* man = mend.add_subcommand("man", "Print the man page of mend, or of one of its commands");
  man->footer("To read it: mend man run | man -l -");
  man->add_option("command", *command, "The command; none: mend itself");
  man->callback([command, &mend, &chosen] { chosen = [command, &mend] { return print_page(mend, *command); }; });
}

}  // namespace mend::jobs
