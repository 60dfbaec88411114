// Random runs that are determined by their seed.

#pragma once

#include "agreement/simulated/simulation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <random>

namespace mend::agreement {

using std::chrono::microseconds;

/// Returns the options of run `seed`, drawn from the seed.
inline SimulationOptions drawn(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto upto = [&](std::uint64_t bound) { return random() % bound; };
  SimulationOptions options;
  options.seed = seed;
  options.members = 64U << upto(upto(4) == 0 ? 7 : 4);
  options.members -= static_cast<std::uint32_t>(upto(options.members / 3));
  const char* layouts[] = {"binary", "binary", "bin/bin:16", "bin/star:16", "5-ary", "bin/chain:4", "star"};
  options.layout = Layout::parse(layouts[upto(std::size(layouts))]);
  options.agreements = 3 + static_cast<std::uint32_t>(upto(6));
  options.at_once = upto(3) == 0 ? 3 : 1;
  options.rebalancing = std::array{Rebalancing::when_degenerated, Rebalancing::always, Rebalancing::never}[upto(3)];
  options.network.processes_per_node = options.layout.group_size;
  options.network.jitter = microseconds(std::array{0, 20, 100}[upto(3)]);
  options.network.detection_least = SimulatedTime{100};
  options.network.detection_most = microseconds(5 + upto(60));
  options.pause = microseconds(1 + upto(20));
  options.fatal_decisions = std::array{0U, 30U, 100U}[upto(3)];
  return options;
}

/// Kills one to three bursts of members: at random, neighbours, or those at the top of the tree.
inline void kill_bursts(GroupSimulation& group, const SimulationOptions& options) {
  std::mt19937_64 random(options.seed ^ 0xdead);
  const auto upto = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  const std::uint32_t bursts = 1 + upto(3);
  for (std::uint32_t burst = 0; burst < bursts; ++burst) {
    const std::uint32_t size = 1 + upto(std::min(options.members / 8, 40U));
    const auto at = microseconds(upto(upto(2) == 0 ? 50 : 400));
    const std::uint32_t kind = upto(3);
    const std::uint32_t first = kind == 2 ? 0 : upto(options.members - 1 - size);
    const SimulatedTime spread = microseconds(std::array{1, 5, 50}[upto(3)]);
    for (std::uint32_t i = 0; i < size; ++i) {
      const Member member{kind == 0 ? upto(options.members - 1) : first + i};  // the last one always survives
      group.kill(member, at + SimulatedTime{upto(static_cast<std::uint64_t>(spread.count()))});
    }
  }
}

}  // namespace mend::agreement
