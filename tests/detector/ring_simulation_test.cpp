// The ring in the simulator: a few small runs kept as text, and many large ones with bursts of failures.
//
// A run is determined by its seed. MEND_SEED=n runs that one alone; MEND_SEEDS=n runs n of them (default 20).

#include "detector/hypercubes.hpp"
#include "detector/simulated/simulation.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

namespace mend::detector {
namespace {

using std::chrono::microseconds;

SimulationOptions small_run(std::uint32_t processes) {
  SimulationOptions options;
  options.processes = processes;
  options.keep_transcript = true;
  return options;
}

void expect_golden_run(const std::string& name, RingSimulation& group) {
  group.run(microseconds(10'000));
  EXPECT_EQ(group.verdict(), std::nullopt);
  testing::expect_golden(name, group.transcript());
}

TEST(RingSimulation, a_quiet_run_sends_heartbeats_alone) {
  RingSimulation group(small_run(5));
  group.run(microseconds(10'000));
  EXPECT_EQ(group.verdict(), std::nullopt);
  EXPECT_EQ(group.messages_sent(), 5U * 50U);
  EXPECT_EQ(group.heartbeats_sent(), 5U * 50U);
}

TEST(RingSimulation, one_of_six_dies) {
  RingSimulation group(small_run(6));
  group.kill({2}, microseconds(3'000));
  expect_golden_run("one_of_six_dies", group);
}

TEST(RingSimulation, two_neighbours_die_together) {
  RingSimulation group(small_run(6));
  group.kill({2}, microseconds(3'000));
  group.kill({3}, microseconds(3'000));
  expect_golden_run("two_neighbours_die", group);
}

TEST(RingSimulation, an_observer_dies_between_two_sends_of_its_report) {
  SimulationOptions options = small_run(8);
  options.fatal_suspicions = 100;
  options.most_deaths = 2;
  RingSimulation group(options);
  group.kill({2}, microseconds(3'000));
  expect_golden_run("observer_dies_reporting", group);
  EXPECT_EQ(group.deaths(), 2U);
}

TEST(RingSimulation, a_witness_is_faster_than_the_time_out) {
  RingSimulation group(small_run(6));
  group.kill({2}, microseconds(3'000));
  group.witness({5}, {2}, microseconds(3'010));
  expect_golden_run("a_witness_tells", group);
}

TEST(RingSimulation, one_joins_in_an_epoch_without_the_dead) {
  SimulationOptions options = small_run(6);
  options.joining = 1;
  RingSimulation group(options);
  group.kill({1}, microseconds(3'000));
  for (std::uint32_t p : {0U, 2U, 3U, 4U, 5U}) group.enter({p}, {{1}, 6, {{1}}}, microseconds(6'000 + 10 * p));
  group.kill({4}, microseconds(7'000));
  expect_golden_run("one_joins", group);
}

TEST(RingSimulation, repeats_itself_to_the_letter) {
  const auto transcript = [] {
    SimulationOptions options = small_run(40);
    options.network.jitter = microseconds(20);
    options.stagger = microseconds(100);
    RingSimulation group(options);
    for (std::uint32_t p : {0U, 4U, 5U, 17U}) group.kill({p}, microseconds(3'000 + p));
    group.run(microseconds(10'000));
    return group.transcript();
  };
  const std::string first = transcript();
  EXPECT_GT(first.size(), 10'000U);
  EXPECT_EQ(first, transcript());
}

// ---- many runs

/// Returns the options of run `seed`, drawn from the seed.
SimulationOptions drawn(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto upto = [&](std::uint64_t bound) { return random() % bound; };
  SimulationOptions options;
  options.seed = seed;
  options.processes = 64U << upto(upto(4) == 0 ? 7 : 4);
  options.processes -= static_cast<std::uint32_t>(upto(options.processes / 3));
  options.network.jitter = microseconds(std::array{0, 20, 100}[upto(3)]);
  options.timing.delta = microseconds(std::array{1'000, 1'500}[upto(2)]);
  options.stagger = microseconds(upto(500));
  options.fatal_suspicions = std::array{0U, 30U, 100U}[upto(3)];
  options.most_deaths = deaths_tolerated(options.processes);
  return options;
}

/// Kills up to as many as theorem 1 allows, within one time-out: random processes, neighbours, or every other one.
void kill_bursts(RingSimulation& group, const SimulationOptions& options) {
  std::mt19937_64 random(options.seed ^ 0xdead);
  const auto upto = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  const std::uint32_t size = 1 + upto(options.most_deaths);
  const std::uint32_t kind = upto(3);
  const std::uint32_t first = upto(options.processes);
  const Time spread = upto(2) == 0 ? Time{1} : options.timing.delta;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t next = kind == 0 ? upto(options.processes) : first + kind * i;
    group.kill({next % options.processes},
               microseconds(4'000) + Time{upto(static_cast<std::uint64_t>(spread.count()))});
  }
}

/// T(f) of equation 1, where tau is the time of a message on the way and through both ports.
Time bound_by_the_paper(const SimulationOptions& options, std::size_t deaths) {
  const auto f = static_cast<std::int64_t>(deaths);
  const auto& link = options.network.between_nodes;
  const Time tau = link.latency + options.network.jitter + 2 * link.overhead;
  const auto broadcast = static_cast<std::int64_t>(8 * std::log2(options.processes)) * tau;
  return f * (f + 1) * options.timing.delta + f * tau + f * (f + 1) / 2 * broadcast;
}

TEST(RingSimulation, holds_through_bursts_of_failures) {
  SKIP_IF_SANITIZED();
  const support::Seeds seeds = support::seeds(20, 2);
  std::uint64_t deaths = 0;
  std::uint64_t messages = 0;
  double closest = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const SimulationOptions options = drawn(seed);
    RingSimulation group(options);
    kill_bursts(group, options);
    group.run(microseconds(4'000) + options.timing.delta + bound_by_the_paper(options, options.most_deaths));
    deaths += group.deaths();
    messages += group.messages_sent();
    const std::string again =
        fmt::format("{} processes, {} deaths, ", options.processes, group.deaths()) + support::to_see_again(seed);
    ASSERT_EQ(group.verdict(), std::nullopt) << again;
    const Time took = group.stable_since() - group.first_death();
    const Time bound = bound_by_the_paper(options, group.deaths());
    ASSERT_LE(took, bound) << again;
    closest = std::max(closest, static_cast<double>(took.count()) / static_cast<double>(bound.count()));
  }
  std::cout << fmt::format("{} runs: {} deaths, {} messages; stable within {:.2f} T(f) at the latest\n", seeds.count(),
                           deaths, messages, closest);
  EXPECT_GT(deaths, 0U);
}

}  // namespace
}  // namespace mend::detector
