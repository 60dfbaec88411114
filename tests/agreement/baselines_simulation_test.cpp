// The two baseline protocols in the simulator: small runs without failures as text, and bursts of failures.

#include "tests/agreement/bursts.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

namespace mend::agreement {
namespace {

void expect_golden_baseline(const std::string& name, Protocol protocol, Member dies, SimulatedTime at) {
  SimulationOptions options;
  options.members = 5;
  options.protocol = protocol;
  options.keep_transcript = true;
  GroupSimulation group(options);
  if (at.count() > 0) group.kill(dies, at);
  group.run();
  EXPECT_EQ(group.verdict(), std::nullopt);
  testing::expect_golden(name, group.transcript());
}

TEST(BaselinesSimulation, log2phases_asks_everybody_when_its_coordinator_dies) {
  expect_golden_baseline("log2phases_coordinator_dies", Protocol::log2phases, {0}, SimulatedTime{3'000});
}

TEST(BaselinesSimulation, validate_all_sends_three_waves) {
  expect_golden_baseline("validate_all_quiet", Protocol::validate_all, {0}, SimulatedTime{0});
}

TEST(BaselinesSimulation, validate_all_ballots_again_when_a_child_dies) {
  expect_golden_baseline("validate_all_child_dies", Protocol::validate_all, {3}, SimulatedTime{1'000});
}

TEST(BaselinesSimulation, validate_all_loose_sends_two_waves) {
  expect_golden_baseline("validate_all_loose_quiet", Protocol::validate_all_loose, {0}, SimulatedTime{0});
}

class Bursts : public ::testing::TestWithParam<Protocol> {};

TEST_P(Bursts, do_no_harm) {
  std::size_t deaths = 0;
  const support::Seeds seeds = support::seeds(80, 20);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SimulationOptions options = drawn(seed);
    if (options.members > 1024) continue;
    options.protocol = GetParam();
    options.at_once = 1;
    GroupSimulation group(options);
    kill_bursts(group, options);
    group.run();
    deaths += group.deaths();
    ASSERT_EQ(group.verdict(), std::nullopt)
        << fmt::format("{} members, ", options.members) << support::to_see_again(seed);
  }
  EXPECT_GT(deaths, 0U);
}

INSTANTIATE_TEST_SUITE_P(Baselines, Bursts,
                         ::testing::Values(Protocol::log2phases, Protocol::validate_all, Protocol::validate_all_loose),
                         [](const auto& which) {
                           std::string name{name_of(which.param)};
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace mend::agreement
