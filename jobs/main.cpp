// The `mend` command: launches jobs that outlive the death of their processes.

#include "base/error.hpp"
#include "base/telemetry/written_output.hpp"
#include "framework/options.hpp"
#include "jobs/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace {

/// Returns the error text for unknown words. It names an option first, because words after an option may be its values.
std::string refusal_of_words(const CLI::App& app, const CLI::ExtrasError& error) {
  const std::vector<std::string> words = app.remaining(true);
  const auto subcommands = app.get_subcommands();
  if (words.empty() || subcommands.empty()) return error.what();
  const auto option = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  const bool is_option = option != words.end();
  const std::string command = "mend " + subcommands.front()->get_name();
  return fmt::format("{} is not an {} of {}: {} --help lists what it takes", is_option ? *option : words.front(),
                     is_option ? "option" : "argument", command, command);
}

/// Opens the standard streams that the parent has closed, so that no other file takes their descriptors. Reading from
/// them ends at once, and writing to them fails.
void occupy_closed_streams() {
  int file = ::open("/dev/null", O_RDONLY);
  while (file >= 0 && file <= STDERR_FILENO) file = ::open("/dev/null", O_RDONLY);
  ::close(file);
}

}  // namespace

int main(int argc, char** argv) {
  using mend::ExitCode;
  std::signal(SIGPIPE, SIG_IGN);  // clean up even if the reader of the output is gone
  std::signal(SIGCHLD, SIG_DFL);  // the kernel would reap the children of a process that ignores it
  occupy_closed_streams();
  CLI::App app("Keeps MPI applications running when processes die.", "mend");
  app.set_version_flag("--version", "mend " MEND_VERSION);
  app.require_subcommand(1);
  // All words after "--" belong to the program to be run.
  char** const dashes =
      std::find_if(argv + 1, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  const std::vector<std::string> after_dashes(std::min(dashes + 1, argv + argc), argv + argc);
  mend::jobs::Action action;
  mend::jobs::add_run_command(app, after_dashes, action);
  mend::jobs::add_slurm_agent_command(app, action);
  mend::jobs::add_control_commands(app, action);
  mend::jobs::add_report_command(app, action);
  mend::jobs::add_plan_command(app, action);
  mend::jobs::add_doctor_command(app, action);
  mend::jobs::add_script_command(app, after_dashes, action);
  mend::jobs::add_simulate_command(app, action);
  mend::jobs::add_manual_commands(app, action);

  try {
    app.parse(static_cast<int>(dashes - argv), argv);
    for (CLI::App* const command : app.get_subcommands()) mend::refuse_wrong_variables(*command);
    return mend::written_or_failed(action());
  } catch (const CLI::Success& asked_for_help) {
    return mend::written_or_failed(app.exit(asked_for_help));
  } catch (const CLI::RequiredError& error) {
    if (!app.get_subcommands().empty()) {
      const std::string command = app.get_subcommands().front()->get_name();
      std::fprintf(stderr, "mend: %s: mend %s --help describes it\n", error.what(), command.c_str());
    } else if (argc < 2) {
      std::fprintf(stderr, "mend: a command is missing: mend --help lists the commands\n");
    } else {
      std::fprintf(stderr, "mend: %s is not a command of mend: mend --help lists the commands\n", argv[1]);
    }
    return static_cast<int>(ExitCode::usage);
  } catch (const CLI::ExtrasError& error) {
    std::fprintf(stderr, "mend: %s\n", refusal_of_words(app, error).c_str());
    return static_cast<int>(ExitCode::usage);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "mend: %s\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const mend::UsageError& error) {
    std::fprintf(stderr, "mend: %s\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mend: %s\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
}
