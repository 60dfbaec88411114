// ERA in the simulator: a few small runs kept as text, and many large ones with bursts of failures.
//
// A run is determined by its seed. MEND_SEED=n runs that one alone; MEND_SEEDS=n runs n of them (default 200).

#include "agreement/simulated/simulation.hpp"
#include "agreement/era/era_impl.hpp"
#include "tests/agreement/bursts.hpp"
#include "tests/support/omitted_rule.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

namespace mend::agreement {
namespace {

SimulationOptions small_run(std::uint32_t members, const char* layout) {
  SimulationOptions options;
  options.members = members;
  options.layout = Layout::parse(layout);
  options.keep_transcript = true;
  return options;
}

void expect_golden_run(const std::string& name, GroupSimulation& group) {
  group.run();
  EXPECT_EQ(group.verdict(), std::nullopt);
  testing::expect_golden(name, group.transcript());
}

TEST(EraSimulation, a_quiet_run_of_seven_in_a_binary_tree) {
  GroupSimulation group(small_run(7, "binary"));
  expect_golden_run("era_quiet", group);
}

TEST(EraSimulation, a_leaf_dies_before_it_has_contributed) {
  GroupSimulation group(small_run(4, "binary"));
  group.kill({3}, SimulatedTime{0});
  expect_golden_run("era_leaf_dies", group);
}

TEST(EraSimulation, an_inner_member_dies_with_its_subtrees_contribution) {
  GroupSimulation group(small_run(7, "binary"));
  group.kill({1}, SimulatedTime{1'700});
  expect_golden_run("era_inner_member_dies", group);
}

TEST(EraSimulation, a_root_that_dies_between_two_sends_of_its_decision_leaves_the_decision_standing) {
  GroupSimulation group(small_run(5, "star"));
  group.kill({0}, SimulatedTime{3'200});
  expect_golden_run("era_root_dies_deciding", group);
}

TEST(EraSimulation, two_roots_die_in_turn) {
  SimulationOptions options = small_run(6, "binary");
  options.network.detection_most = microseconds(6);
  GroupSimulation group(options);
  group.kill({0}, SimulatedTime{3'000});
  group.kill({1}, SimulatedTime{9'000});
  expect_golden_run("era_two_roots_die", group);
}

TEST(EraSimulation, a_failure_is_reported_once_then_acknowledged) {
  SimulationOptions options = small_run(4, "binary");
  options.agreements = 3;
  GroupSimulation group(options);
  group.kill({2}, SimulatedTime{0});
  expect_golden_run("era_failure_acknowledged", group);
}

TEST(EraSimulation, repeats_itself_to_the_letter) {
  const auto transcript = [] {
    SimulationOptions options = small_run(40, "bin/bin:4");
    options.agreements = 3;
    options.network.jitter = microseconds(3);
    GroupSimulation group(options);
    for (std::uint32_t p : {0U, 4U, 5U, 17U}) group.kill({p}, SimulatedTime{1'000 * p});
    group.run();
    return group.transcript();
  };
  const std::string first = transcript();
  EXPECT_GT(first.size(), 10'000U);
  EXPECT_EQ(first, transcript());
}

TEST(EraSimulation, forgets_results_when_all_have_returned) {
  SimulationOptions options = small_run(64, "binary");
  options.keep_transcript = false;
  options.agreements = 50;
  GroupSimulation group(options);
  group.run();
  ASSERT_EQ(group.verdict(), std::nullopt);
  for (std::uint32_t p = 0; p < options.members; ++p) {
    const auto& era = dynamic_cast<const Era&>(group.core({p}));
    EXPECT_EQ(era.results_kept(), 1U) << "the last one's, which nobody has come after";
    EXPECT_EQ(era.under_way(), 0U);
  }
}

// ---- many runs

TEST(EraSimulation, holds_through_bursts_of_failures) {
  const support::Seeds seeds = support::seeds(200, 5);
  std::uint64_t agreements = 0;
  std::uint64_t deaths = 0;
  std::uint64_t messages = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const SimulationOptions options = drawn(seed);
    GroupSimulation group(options);
    kill_bursts(group, options);
    group.run();
    deaths += group.deaths();
    agreements += options.agreements;
    messages += group.messages_sent();
    ASSERT_EQ(group.verdict(), std::nullopt)
        << fmt::format("{} members, {} tree, ", options.members, options.layout.to_string())
        << support::to_see_again(seed);
  }
  std::cout << fmt::format("{} runs: {} agreements, {} failures survived, {} messages\n", seeds.count(), agreements,
                           deaths, messages);
  EXPECT_GT(deaths, 0U);
}

/// Returns true if the bursts show, within some hundred runs, that `omitted` is missing.
bool is_missed(std::optional<Rule> omitted) {
  const support::Omission<Rule> omission(omitted);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SimulationOptions options = drawn(seed);
    if (options.members > 256) continue;
    options.make = [&](Member self, std::shared_ptr<const Tree> tree) {
      return std::make_unique<BasicEra<support::RulesButOne<Rule>>>(self, std::move(tree), nullptr,
                                                                    options.rebalancing);
    };
    GroupSimulation group(options);
    kill_bursts(group, options);
    group.run();
    if (group.verdict()) return true;
  }
  return false;
}

TEST(EraSimulation, bursts_bring_missing_rules_to_light) {
  SKIP_IF_SANITIZED();
  EXPECT_FALSE(is_missed(std::nullopt));
  EXPECT_TRUE(is_missed(Rule::resend_to_new_parent));
  EXPECT_TRUE(is_missed(Rule::hear_late_ups));
  EXPECT_TRUE(is_missed(Rule::ask_when_promoted));
  EXPECT_TRUE(is_missed(Rule::refuse_the_dead));
}

}  // namespace
}  // namespace mend::agreement
