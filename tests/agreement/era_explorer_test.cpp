// Every run of small ERA systems and, for each rule, the shortest run that goes wrong without it, kept in golden/. The
// counts of states are printed. MEND_TEST_LONG=1 also explores the larger systems (minutes).

#include "agreement/era/era_impl.hpp"
#include "tests/agreement/agreement_node.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/omitted_rule.hpp"
#include "tests/support/sanitized.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

namespace mend::agreement {
namespace {

using transport::Exploration;
using transport::ExplorationLimits;

const std::vector<Call> one_agreement{Call::blocking};
const std::vector<Call> two_in_turn{Call::blocking, Call::blocking};
const std::vector<Call> two_at_once{Call::nonblocking, Call::nonblocking};

struct System {
  std::uint32_t members;
  std::uint32_t deaths;  ///< how many may die, at any time
  const char* tree = "binary";
  std::vector<Call> calls = one_agreement;
  Rebalancing rebalancing = Rebalancing::when_degenerated;
};

template <class Rules = AllRules>
Exploration explore(const System& system) {
  using Core = BasicEra<Rules>;
  using Node = AgreementNode<Core>;
  const auto tree = std::make_shared<const Tree>(system.members, Layout::parse(system.tree));
  std::vector<Node> nodes;
  for (std::uint32_t p = 0; p < system.members; ++p) {
    nodes.emplace_back(Member{p}, Core(Member{p}, tree, nullptr, system.rebalancing), system.calls);
  }
  ExplorationLimits limits;
  limits.deaths = system.deaths;
  const auto promise = [](const auto& now) { return broken_promise(now, Uniformity::among_the_living); };
  const auto begin = std::chrono::steady_clock::now();
  const Exploration found = transport::Explorer<Node>(std::move(nodes), promise, limits).run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << fmt::format(
      "{} members, up to {} deaths, {} tree, {} agreements: {} states, {} steps, {} at rest, {:.1f} s\n",
      system.members, system.deaths, system.tree, system.calls.size(), found.states, found.steps, found.at_rest,
      took.count());
  return found;
}

void expect_holds(const System& system) {
  const Exploration found = explore(system);
  EXPECT_EQ(found.violation, "") << found.transcript;
  EXPECT_TRUE(found.complete);
  EXPECT_GT(found.at_rest, 0U);
}

Exploration explore_without(Rule omitted, const System& system) {
  const support::Omission<Rule> omission(omitted);
  return explore<support::RulesButOne<Rule>>(system);
}

/// Without `omitted`, the explorer must find `promise` broken. The shortest run that breaks it is a golden one.
void expect_missed(Rule omitted, const std::string& name, const System& system, const std::string& promise) {
  const Exploration found = explore_without(omitted, system);
  const std::string told = fmt::format("{} members, {} tree, without the rule {}\n{}{}\n", system.members, system.tree,
                                       name, found.transcript, found.violation);
  std::cout << told;
  EXPECT_EQ(found.violation.substr(0, promise.size()), promise);
  testing::expect_golden("era_without_" + name, told);
  expect_holds(system);
}

// ---- the promises hold

TEST(EraExplorer, holds_for_2_members_of_which_1_may_die) { expect_holds({2, 1}); }

TEST(EraExplorer, holds_for_3_members_of_which_2_may_die_in_every_tree) {
  for (const char* tree : {"binary", "chain", "bin/star:2"}) expect_holds({3, 2, tree});
}

TEST(EraExplorer, holds_for_4_members_of_which_3_may_die_in_every_tree) {
  for (const char* tree : {"binary", "star", "chain", "bin/star:2", "chain/chain:2"}) expect_holds({4, 3, tree});
}

TEST(EraExplorer, holds_for_5_members_of_which_1_may_die_in_every_tree) {
  for (const char* tree : {"binary", "star", "chain", "bin/star:2", "bin/chain:3"}) expect_holds({5, 1, tree});
}

TEST(EraExplorer, holds_for_5_members_of_which_4_may_die) {
  SKIP_IF_SANITIZED();
  expect_holds({5, 4});
}

TEST(EraExplorer, holds_for_agreements_in_turn) {
  expect_holds({2, 1, "binary", {3, Call::blocking}});
  expect_holds({3, 2, "binary", {3, Call::blocking}});
  expect_holds({4, 3, "binary", two_in_turn});
  expect_holds({4, 3, "chain", two_in_turn});
}

TEST(EraExplorer, holds_for_agreements_under_way_at_once) {
  expect_holds({3, 2, "binary", two_at_once});
  expect_holds({3, 2, "chain", two_at_once});
  expect_holds({3, 1, "binary", {Call::nonblocking, Call::nonblocking, Call::blocking}});
  expect_holds({3, 1, "binary", {Call::nonblocking, Call::blocking, Call::nonblocking}});
  if (!support::sanitized) expect_holds({4, 2, "binary", two_at_once});
}

TEST(EraExplorer, holds_when_the_tree_is_built_anew_after_every_failure) {
  expect_holds({3, 2, "binary", {3, Call::blocking}, Rebalancing::always});
  expect_holds({4, 3, "binary", two_in_turn, Rebalancing::always});
  expect_holds({4, 3, "chain", two_in_turn, Rebalancing::always});
  expect_holds({3, 2, "chain", {Call::nonblocking, Call::blocking, Call::blocking}, Rebalancing::always});
}

TEST(EraExplorer, holds_for_larger_systems) {
  if (!support::long_tests()) GTEST_SKIP() << "set MEND_TEST_LONG=1 to explore these too";
  expect_holds({5, 4, "chain"});
  expect_holds({5, 4, "star"});
  expect_holds({5, 4, "bin/star:2"});
  expect_holds({5, 4, "binary", two_in_turn, Rebalancing::always});
  expect_holds({4, 3, "binary", two_at_once});
  expect_holds({4, 2, "binary", {3, Call::blocking}, Rebalancing::always});
  expect_holds({6, 2});
}

// ---- every rule is needed

TEST(EraExplorer, misses_the_wait_for_the_children) {
  expect_missed(Rule::wait_for_children, "wait_for_children", {2, 0}, "0 returns from #0 without a word of 1");
}

TEST(EraExplorer, misses_contributions_sent_again_when_the_parent_dies) {
  expect_missed(Rule::resend_to_new_parent, "resend_to_new_parent", {3, 1}, "Termination");
}

TEST(EraExplorer, misses_contributions_sent_again_to_one_who_waits_for_the_result) {
  expect_missed(Rule::hear_late_ups, "hear_late_ups", {3, 1}, "Termination");
}

TEST(EraExplorer, misses_the_result_sent_to_grandchildren_whose_parent_is_not_yet_known_dead) {
  expect_missed(Rule::tell_contributors, "tell_contributors", {3, 1}, "Termination");
}

TEST(EraExplorer, misses_the_answer_to_a_contribution_sent_again_after_returning) {
  expect_missed(Rule::answer_after_returning, "answer_after_returning", {3, 1}, "Termination");
}

TEST(EraExplorer, misses_the_question_of_a_new_root) {
  expect_missed(Rule::ask_when_promoted, "ask_when_promoted", {3, 1}, "Termination");
}

TEST(EraExplorer, misses_the_question_to_the_children_of_one_who_died_without_answering) {
  expect_missed(Rule::ask_grandchildren, "ask_grandchildren", {4, 2, "bin/star:2"}, "Termination");
}

TEST(EraExplorer, misses_a_root_that_accepts_the_result_it_has_asked_for) {
  expect_missed(Rule::listen_as_root, "listen_as_root", {3, 1}, "Termination");
}

TEST(EraExplorer, misses_the_refusal_of_messages_from_the_dead) {
  expect_missed(Rule::refuse_the_dead, "refuse_the_dead", {3, 1}, "Agreement");
}

TEST(EraExplorer, misses_that_a_late_request_marks_dead_all_between_it_and_the_receiver) {
  expect_missed(Rule::believe_the_path, "believe_the_path", {4, 2, "bin/star:2"}, "Agreement");
}

TEST(EraExplorer, misses_that_a_late_request_marks_dead_all_below_its_sender_when_roots_change_twice) {
  expect_missed(Rule::believe_the_elders, "believe_the_elders", {4, 2, "star"}, "Agreement");
}

TEST(EraExplorer, misses_that_deaths_told_by_a_request_are_acted_on_in_every_agreement) {
  expect_missed(Rule::act_on_deaths_told, "act_on_deaths_told", {3, 1, "binary", two_in_turn}, "Termination");
}

TEST(EraExplorer, misses_results_that_are_kept_until_all_have_returned) {
  expect_missed(Rule::intersect_returned, "intersect_returned", {3, 1, "binary", two_at_once}, "Termination");
}

}  // namespace
}  // namespace mend::agreement
