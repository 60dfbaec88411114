// Every run of small jobs with replay and, for each rule of the protocol, the shortest run that goes wrong without it,
// kept in golden/. The counts of states are printed, and compared with those of docs/replay.md. MEND_TEST_LONG=1 also
// explores the larger jobs (minutes).

#include "tests/framework/recovery/system_explorer.hpp"
#include "tests/replay/uncoordinated/replay_system.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/omitted_rule.hpp"
#include "tests/support/sanitized.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

namespace mend::replay {
namespace {

using transport::Exploration;

template <class Rules>
Exploration explore(const Scene& scene) {
  const auto begin = std::chrono::steady_clock::now();
  auto matches = std::make_shared<Matches>();
  Scene quiet = scene;
  quiet.deaths = 0;
  quiet.collect_early = false;
  const Exploration without = testing::SystemExplorer<System<AllRules>>({quiet, matches, true}).run();
  if (!without.violation.empty()) return without;
  const Exploration found = testing::SystemExplorer<System<Rules>>({scene, matches, false}).run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::string programs;
  for (const auto& program : scene.programs) programs += fmt::format("{}[{}]", programs.empty() ? "" : " ", program);
  std::cout << fmt::format("{}, up to {} deaths: {} states, {} steps, {} at rest, {} without deaths, {:.1f} s\n",
                           programs, scene.deaths, found.states, found.steps, found.at_rest, without.states,
                           took.count());
  return found;
}

/// Returns the number of states.
std::size_t expect_holds(const Scene& scene) {
  const Exploration found = explore<AllRules>(scene);
  EXPECT_EQ(found.violation, "") << found.transcript;
  EXPECT_TRUE(found.complete);
  EXPECT_GT(found.at_rest, 0U);
  return found.states;
}

/// `states`: how many there are, as docs/replay.md says.
void expect_holds(const Scene& scene, std::size_t states) { EXPECT_EQ(expect_holds(scene), states); }

Exploration explore_without(Rule omitted, const Scene& scene) {
  const support::Omission<Rule> omission(omitted);
  return explore<support::RulesButOne<Rule>>(scene);
}

/// Without `omitted`, the explorer must find `promise` broken. The shortest run that breaks it is a golden one.
void expect_missed(Rule omitted, const std::string& name, const Scene& scene, const std::string& promise) {
  SKIP_IF_SANITIZED();
  const Exploration found = explore_without(omitted, scene);
  std::string told;
  for (std::size_t p = 0; p < scene.programs.size(); ++p) told += fmt::format("{}: {}\n", p, scene.programs[p]);
  told += fmt::format("without the rule {}\n{}{}\n", name, found.transcript, found.violation);
  EXPECT_NE(found.violation, "");
  EXPECT_EQ(found.violation.substr(0, promise.size()), promise) << told;
  testing::expect_golden("replay_without_" + name, told);
  expect_holds(scene);
}

// ---- the promises hold

TEST(ReplayExplorer, holds_for_larger_jobs) {
  if (!support::long_tests()) GTEST_SKIP() << "set MEND_TEST_LONG=1 to explore these too";
  expect_holds({.programs = {"s1 r1 s1", "c * s2 * s0 s3 * *", "r1 s1", "r1 c s1"}}, 91'652);
  expect_holds({.programs = {"s1 c *", "c r0 s2", "r1 c s0"}, .deaths = 2}, 75'698);
  expect_holds({.programs = {"s1 c r1 c s1", "c r0 s0 c r0"}, .deaths = 2, .collect_early = true}, 276'880);
}

TEST(ReplayExplorer, holds_for_a_message_each_way) { expect_holds({.programs = {"s1 r1", "r0 s0"}}, 77); }

TEST(ReplayExplorer, holds_for_a_ring_of_2_that_commits) {
  expect_holds({.programs = {"s1 r1 c s1 r1", "r0 c s0 r0 s0"}}, 390);
}

TEST(ReplayExplorer, holds_for_a_ring_of_2_in_which_2_die) {
  expect_holds({.programs = {"s1 r1 c s1 r1", "r0 c s0 r0 s0"}, .deaths = 2}, 2'333);
}

TEST(ReplayExplorer, holds_for_a_ring_of_2_in_which_3_die) {
  SKIP_IF_SANITIZED();
  expect_holds({.programs = {"s1 r1 c s1 r1 c s1", "r0 c s0 r0 s0 r0"}, .deaths = 3}, 16'099);
}

TEST(ReplayExplorer, holds_for_a_ring_of_3) { expect_holds({.programs = {"s1 c r2", "c r0 s2", "r1 c s0"}}, 4'450); }

TEST(ReplayExplorer, holds_if_a_rank_sends_more_than_it_gets) {
  SKIP_IF_SANITIZED();
  expect_holds({.programs = {"s1 s1 c s1 s1", "r0 c r0 r0 c r0"}, .deaths = 2, .most_unacknowledged = 2}, 19'139);
}

TEST(ReplayExplorer, holds_for_large_messages) {
  expect_holds({.programs = {"S1 r1 c S1", "c r0 S0 r0"}, .deaths = 2}, 3'813);
}

TEST(ReplayExplorer, holds_for_a_cluster_of_2_and_one_of_1) {
  SKIP_IF_SANITIZED();
  expect_holds({.programs = {"s1 c s2", "r0 c s2", "* *"}, .clusters = {0, 0, 1}, .epochs = {1, 1, 3}, .deaths = 2},
               22'051);
}

TEST(ReplayExplorer, holds_for_wildcards_in_the_course_of_figure_2) {
  SKIP_IF_SANITIZED();
  expect_holds({.programs = {"s1 r1 s1", "c * s2 * s0 s3 * *", "r1 s1", "r1 c s1"}, .mortal = {1}}, 28'933);
}

TEST(ReplayExplorer, holds_if_garbage_is_collected_at_any_time) {
  SKIP_IF_SANITIZED();
  expect_holds({.programs = {"s1 c r1", "r0 s0 c"}, .epochs = {4, 2}, .deaths = 2, .collect_early = true}, 20'547);
  expect_holds({.programs = {"s1 c s1 c r1", "r0 c r0 c s0"}, .collect_early = true}, 21'530);
}

// ---- each of these rules is needed

TEST(ReplayExplorer, misses_log_past_to_future) {
  expect_missed(Rule::log_past_to_future, "log_past_to_future", {.programs = {"s1 r1", "c r0 s0"}, .deaths = 2},
                "Rollback");
}

TEST(ReplayExplorer, misses_commit_raises_phase) {
  expect_missed(Rule::commit_raises_phase, "commit_raises_phase",
                {.programs = {"r2 r2 s1", "r2 r0 r2", "s1 c s0 s0 s1"}}, "Sequence");
}

TEST(ReplayExplorer, misses_logged_raises_phase) {
  expect_missed(Rule::logged_raises_phase, "logged_raises_phase",
                {.programs = {"r1 s1 r1 s1 s1 s1", "s0 r0 s0 r0 r0 c r0"}, .epochs = {2, 4}, .deaths = 2},
                "Termination");
}

TEST(ReplayExplorer, misses_kept_wait_for_phase) {
  expect_missed(Rule::kept_wait_for_phase, "kept_wait_for_phase",
                {.programs = {"s1 r1", "c * s2 * s0", "r1 s1"}, .mortal = {1}}, "Validity");
}

TEST(ReplayExplorer, misses_rolled_back_wait_below) {
  expect_missed(Rule::rolled_back_wait_below, "rolled_back_wait_below",
                {.programs = {"r2 r2 s1", "* c *", "c s1 s0 s0"}}, "Termination");
}

TEST(ReplayExplorer, misses_survivors_wait) {
  expect_missed(Rule::survivors_wait, "survivors_wait",
                {.programs = {"s1 r1 r1 c", "r0 r2 S0 s0 r2", "s1 c s1"}, .epochs = {4, 3, 4}}, "Sequence");
}

TEST(ReplayExplorer, misses_commit_after_counting) {
  expect_missed(Rule::commit_after_counting, "commit_after_counting", {.programs = {"r2 r2 s1", "* c *", "c s1 s0 s0"}},
                "Rollback");
}

TEST(ReplayExplorer, misses_compare_with_last_date) {
  expect_missed(Rule::compare_with_last_date, "compare_with_last_date",
                {.programs = {"r2 r2 s1", "* c *", "c s1 s0 s0"}}, "Sequence");
}

TEST(ReplayExplorer, misses_first_epoch_counts) {
  expect_missed(Rule::first_epoch_counts, "first_epoch_counts", {.programs = {"s1 r1", "c r0 s0"}, .deaths = 2},
                "Rollback");
}

TEST(ReplayExplorer, misses_commit_unacknowledged) {
  expect_missed(Rule::commit_unacknowledged, "commit_unacknowledged",
                {.programs = {"S1 s1 c r1", "r0 r0 s0"}, .deaths = 2}, "Termination");
}

TEST(ReplayExplorer, misses_resend_unacknowledged) {
  expect_missed(Rule::resend_unacknowledged, "resend_unacknowledged", {.programs = {"r2 r2 s1", "* c *", "c s1 s0 s0"}},
                "Termination");
}

TEST(ReplayExplorer, misses_doubt_unacknowledged) {
  expect_missed(Rule::doubt_unacknowledged, "doubt_unacknowledged", {.programs = {"r2 r2 s1", "* c *", "c s1 s0 s0"}},
                "Termination");
}

TEST(ReplayExplorer, misses_replay_what_is_missing) {
  expect_missed(Rule::replay_what_is_missing, "replay_what_is_missing",
                {.programs = {"r1 S1 c r1", "c s0 r0 s0"}, .deaths = 2, .mortal = {0}}, "Termination");
}

TEST(ReplayExplorer, misses_begin_again) {
  expect_missed(Rule::begin_again, "begin_again", {.programs = {"S1 s1 c r1", "r0 r0 s0"}, .deaths = 2}, "Sequence");
}

}  // namespace
}  // namespace mend::replay
