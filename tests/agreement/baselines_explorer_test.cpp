// Every run of small systems of the two baseline protocols.

#include "agreement/baselines/log2phases.hpp"
#include "agreement/baselines/validate_all.hpp"
#include "tests/agreement/agreement_node.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sanitized.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace mend::agreement {
namespace {

using transport::Exploration;
using transport::ExplorationLimits;

struct BaselineSystem {
  std::uint32_t members;
  std::uint32_t deaths;
  std::size_t agreements = 1;
  const char* tree = "binary";
};

template <class CoreType, class MakeCore>
Exploration explore_baseline(const char* name, const BaselineSystem& system, Uniformity uniformity, MakeCore make) {
  using Node = AgreementNode<CoreType>;
  const auto tree = std::make_shared<const Tree>(system.members, Layout::parse(system.tree));
  std::vector<Node> nodes;
  for (std::uint32_t p = 0; p < system.members; ++p) {
    nodes.emplace_back(Member{p}, make(Member{p}, tree), std::vector<Call>(system.agreements, Call::blocking));
  }
  ExplorationLimits limits;
  limits.deaths = system.deaths;
  limits.remember_the_dead = uniformity == Uniformity::uniform;
  const Exploration found =
      transport::Explorer<Node>(
          std::move(nodes), [&](const auto& now) { return broken_promise(now, uniformity); }, limits)
          .run();
  std::cout << fmt::format("{}: {} members, up to {} deaths, {} agreements: {} states, {} steps, {} at rest\n", name,
                           system.members, system.deaths, system.agreements, found.states, found.steps, found.at_rest);
  return found;
}

Exploration explore_log2phases(const BaselineSystem& system) {
  return explore_baseline<Log2Phases>("log2phases", system, Uniformity::among_the_living,
                                      [](Member self, auto tree) { return Log2Phases(self, tree); });
}

Exploration explore_validate_all(const BaselineSystem& system, Semantics semantics, Uniformity uniformity) {
  return explore_baseline<ValidateAll>(semantics == Semantics::strict ? "validate-all" : "validate-all-loose", system,
                                       uniformity,
                                       [&](Member self, auto tree) { return ValidateAll(self, tree, semantics); });
}

void expect_to_hold(const Exploration& found) {
  EXPECT_EQ(found.violation, "") << found.transcript;
  EXPECT_TRUE(found.complete);
  EXPECT_GT(found.at_rest, 0U);
}

TEST(Log2PhasesExplorer, holds_for_2_to_4_members_of_which_all_but_one_may_die) {
  for (const char* tree : {"binary", "chain", "star"}) {
    expect_to_hold(explore_log2phases({2, 1, 1, tree}));
    expect_to_hold(explore_log2phases({3, 2, 1, tree}));
    expect_to_hold(explore_log2phases({4, 3, 1, tree}));
  }
}

TEST(Log2PhasesExplorer, holds_for_agreements_in_turn) {
  expect_to_hold(explore_log2phases({2, 1, 3}));
  expect_to_hold(explore_log2phases({3, 2, 3}));
  expect_to_hold(explore_log2phases({3, 2, 2, "chain"}));
  expect_to_hold(explore_log2phases({4, 2, 2}));
}

TEST(ValidateAllExplorer, strict_holds_even_for_those_who_died_after_they_had_returned) {
  expect_to_hold(explore_validate_all({2, 1}, Semantics::strict, Uniformity::uniform));
  expect_to_hold(explore_validate_all({3, 2}, Semantics::strict, Uniformity::uniform));
  expect_to_hold(explore_validate_all({3, 1, 2}, Semantics::strict, Uniformity::uniform));
  if (!support::sanitized) expect_to_hold(explore_validate_all({4, 2}, Semantics::strict, Uniformity::uniform));
}

TEST(ValidateAllExplorer, strict_holds_among_the_living_of_2_to_4_members) {
  expect_to_hold(explore_validate_all({3, 2, 2}, Semantics::strict, Uniformity::among_the_living));
  expect_to_hold(explore_validate_all({4, 3}, Semantics::strict, Uniformity::among_the_living));
}

TEST(ValidateAllExplorer, loose_holds_among_the_living) {
  expect_to_hold(explore_validate_all({2, 1}, Semantics::loose, Uniformity::among_the_living));
  expect_to_hold(explore_validate_all({3, 2}, Semantics::loose, Uniformity::among_the_living));
  expect_to_hold(explore_validate_all({3, 2, 2}, Semantics::loose, Uniformity::among_the_living));
  expect_to_hold(explore_validate_all({4, 3}, Semantics::loose, Uniformity::among_the_living));
}

TEST(ValidateAllExplorer, loose_lets_one_return_and_die_with_a_result_of_its_own) {
  const Exploration found = explore_validate_all({2, 1}, Semantics::loose, Uniformity::uniform);
  EXPECT_EQ(found.violation.substr(0, 9), "Agreement");
  testing::expect_golden("validate_all_loose_is_not_uniform", found.transcript + found.violation + "\n");
}

TEST(Baselines, refuse_nonblocking_calls_and_agreements_out_of_order) {
  const auto tree = std::make_shared<const Tree>(2, Layout::binary());
  for (Protocol protocol : {Protocol::log2phases, Protocol::validate_all, Protocol::validate_all_loose}) {
    const auto core = make_core(protocol, {1}, tree);
    Actions actions;
    Contribution contribution;
    contribution.call = Call::nonblocking;
    EXPECT_THROW(core->contribute({0}, contribution, actions), UsageError);
    EXPECT_THROW(core->contribute({1}, {}, actions), UsageError);
    core->contribute({0}, {}, actions);
    EXPECT_THROW(core->contribute({1}, {}, actions), UsageError) << "the first is still under way";
  }
}

TEST(Protocol, goes_by_its_name) {
  for (const char* name : {"era", "log2phases", "validate-all", "validate-all-loose"}) {
    EXPECT_EQ(name_of(parse_protocol(name)), name);
  }
  EXPECT_THROW(parse_protocol("paxos"), UsageError);
}

}  // namespace
}  // namespace mend::agreement
