// mend simulate: predicts the behaviour at scales that are not available. The simulators are installed beside the
// command (bench/).

#include "base/error.hpp"
#include "jobs/commands.hpp"
#include "jobs/shell_words.hpp"
#include "jobs/simulate/simulations.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace mend::jobs {
namespace {

/// A figure of a paper, and the arguments that simulate it. The number of runs is small enough for all to take seconds.
struct Preset {
  std::vector<std::string> words;
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{{{"agreement", "--figure", "era-2a"}},
                                       {{"agreement", "--figure", "era-2b"}},
                                       {{"agreement", "--figure", "era-2c"}},
                                       {{"agreement", "--figure", "era-2d"}},
                                       {{"agreement", "--figure", "validate-all"}},
                                       {{"detector", "--figure", "ring-3"}},
                                       {{"detector", "--figure", "ring-4", "--quick", "--runs", "100"}},
                                       {{"detector", "--figure", "ring-5", "--quick", "--runs", "100"}},
                                       {{"detector", "--figure", "ring-6", "--quick"}},
                                       {{"detector", "--figure", "ring-equation-1"}},
                                       {{"rollback", "--figure", "replay-I"}}};
  return all;
}

/// Returns the output of the simulation, without spaces at the ends of lines and without empty lines at its end.
std::string printed_by(const Preset& preset) {
  std::string line = shell_quoted(program_simulating(preset.words.front()).string());
  for (std::size_t i = 1; i < preset.words.size(); ++i) line += " " + shell_quoted(preset.words[i]);
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw EnvironmentError(fmt::format("{} cannot be run: {}", line, std::strerror(errno)));
  std::string text;
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) {
    if (letter == '\n') text.erase(text.find_last_not_of(' ') + 1);
    text += static_cast<char>(letter);
  }
  if (::pclose(pipe) != 0) {
    throw EnvironmentError(fmt::format(
        "'{}' has failed: run it alone to see why; it comes with mend's benchmarks (MEND_BUILD_BENCHMARKS)", line));
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

/// Prints a section of Markdown for each figure, as in docs/papers.md.
int all_figures() {
  for (const Preset& preset : presets()) {
    std::printf("## %s %s\n\n    mend simulate", preset.words[0].c_str(), preset.words[2].c_str());
    for (const std::string& word : preset.words) std::printf(" %s", word.c_str());
    std::printf("\n\n```text\n%s\n```\n\n", printed_by(preset).c_str());
    std::fflush(stdout);
  }
  return 0;
}

int simulate(bool wants_all_figures, std::vector<std::string> words) {
  if (wants_all_figures) {
    if (!words.empty()) throw UsageError(fmt::format("--all-figures stands alone: leave {} out", words.front()));
    return all_figures();
  }
  if (words.empty() || std::ranges::find(simulated_subjects, words.front()) == simulated_subjects.end()) {
    throw UsageError(
        fmt::format("{} cannot be simulated: give agreement, detector, recovery, rollback or --all-figures",
                    words.empty() ? "this" : words.front()));
  }
  const auto program = program_simulating(words.front());
  words.front() = "mend simulate " + words.front();  // as its --help and the user name it
  std::vector<char*> line;
  for (std::string& word : words) line.push_back(word.data());
  line.push_back(nullptr);
  ::execv(program.c_str(), line.data());
  throw EnvironmentError(fmt::format("{} cannot be run, which comes with mend's benchmarks (MEND_BUILD_BENCHMARKS): {}",
                                     program.string(), std::strerror(errno)));
}

}  // namespace

void add_simulate_command(CLI::App& mend, Action& chosen) {
  auto* command =
      mend.add_subcommand("simulate", "Simulate agreements, failure detection, recovery or rollback at any scale");
  command->footer(
      "mend simulate agreement --processes 10000 --latency 2    agreements of your own size\n"
      "mend simulate agreement --figure era-2a                  a figure of a paper, beside what the paper says\n"
      "mend simulate detector --processes 4096 --timeout 2s     when a death is known to all, by silence\n"
      "mend simulate detector --figure ring-3\n"
      "mend simulate recovery --processes 64,1024 --state-per-rank 1GiB    what to expect of a recovery, by phase\n"
      "mend simulate recovery --failures 2 --on-failure spawn --found-by silence\n"
      "mend simulate rollback --figure replay-I\n"
      "mend simulate rollback --failures --nodes 1024 --state-per-rank 1GiB    what failures cost a job\n"
      "mend simulate rollback --figure commits                  what is lost if clusters commit at different times\n"
      "mend simulate agreement --help                           all figures and options; mend man "
      "simulate-agreement\n\n"
      "Exits with 0; with 1 when a simulated protocol breaks its promises; with 2 for wrong arguments.");
  auto wants_all = std::make_shared<bool>(false);
  command->add_flag("--all-figures", *wants_all, "Print all figures of the papers, in Markdown");
  command->prefix_command();
  command->callback([command, wants_all, &chosen] {
    chosen = [command, wants_all] { return simulate(*wants_all, command->remaining()); };
  });
}

}  // namespace mend::jobs
