// mend simulate: what to expect at a scale that is not there. The simulations stand beside the command (bench/).

#include "base/error.hpp"
#include "jobs/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace mend::jobs {
namespace {

constexpr std::array<std::string_view, 3> subjects{"agreement", "detector", "rollback"};

int simulate(std::vector<std::string> words) {
  if (words.empty() || std::ranges::find(subjects, words.front()) == subjects.end()) {
    throw UsageError(fmt::format("{} cannot be simulated: give agreement, detector or rollback",
                                 words.empty() ? "this" : words.front()));
  }
  const auto program = std::filesystem::canonical("/proc/self/exe").parent_path() / ("mend-simulate-" + words.front());
  words.front() = program.string();
  std::vector<char*> line;
  for (std::string& word : words) line.push_back(word.data());
  line.push_back(nullptr);
  ::execv(line.front(), line.data());
  throw EnvironmentError(fmt::format("{} cannot be run, which comes with mend's benchmarks (MEND_BUILD_BENCHMARKS): {}",
                                     program.string(), std::strerror(errno)));
}

}  // namespace

void add_simulate_command(CLI::App& mend, Action& chosen) {
  auto* command = mend.add_subcommand("simulate", "Simulate agreements, failure detection or rollback at any scale");
  command->footer(
      "mend simulate agreement --processes 10000 --latency 2    agreements of your own size\n"
      "mend simulate agreement --figure era-2a                  a figure of a paper, beside what the paper says\n"
      "mend simulate detector --figure ring-3\n"
      "mend simulate rollback --figure replay-I\n"
      "mend simulate rollback --failures --nodes 1024 --state-per-rank 1GiB    what failures cost a job\n"
      "mend simulate agreement --help                           all figures and options\n\n"
      "Exits with 0; with 1 when a simulated protocol breaks its promises; with 2 for wrong arguments.");
  command->prefix_command();
  command->callback([command, &chosen] { chosen = [command] { return simulate(command->remaining()); }; });
}

}  // namespace mend::jobs
