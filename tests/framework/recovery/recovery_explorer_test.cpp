// Explores every run of small jobs that recover. For each rule of the recovery, the shortest run that goes wrong
// without it is kept in golden/. The numbers of states are printed. MEND_TEST_LONG=1 explores larger jobs too
// (minutes).

#include "tests/support/golden.hpp"
#include "tests/framework/recovery/recovery_system.hpp"
#include "tests/framework/recovery/system_explorer.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/omitted_rule.hpp"
#include "tests/support/sanitized.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

namespace mend::recovery {
namespace {

using transport::Exploration;

template <class Rules = AllRules>
Exploration explore(const Scene& scene) {
  const auto begin = std::chrono::steady_clock::now();
  const Exploration found = testing::SystemExplorer<System<Rules>>(System<Rules>(scene)).run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << fmt::format(
      "{} ranks, {} spares, {} to be started, up to {} deaths, {} errors: {} states, {} steps, {} at rest, {:.1f} s\n",
      scene.ranks, scene.spares, scene.newcomers, scene.deaths, scene.errors, found.states, found.steps, found.at_rest,
      took.count());
  return found;
}

void expect_holds(const Scene& scene) {
  const Exploration found = explore(scene);
  EXPECT_EQ(found.violation, "") << found.transcript;
  EXPECT_TRUE(found.complete);
  EXPECT_GT(found.at_rest, 0U);
}

Policy policy(const char* text) { return Policy::parse(text); }

Exploration explore_without(Rule omitted, const Scene& scene) {
  const support::Omission<Rule> omission(omitted);
  return explore<support::RulesButOne<Rule>>(scene);
}

/// Without `omitted`, the explorer must find that `promise` is broken. The shortest run that breaks it is a golden one.
void expect_missed(Rule omitted, const std::string& name, const Scene& scene, const std::string& promise) {
  SKIP_IF_SANITIZED();
  const Exploration found = explore_without(omitted, scene);
  const std::string told =
      fmt::format("{} ranks, {} spares, {} to be started, without the rule {}\n{}{}\n", scene.ranks, scene.spares,
                  scene.newcomers, name, found.transcript, found.violation);
  std::cout << told;
  EXPECT_NE(found.violation, "");
  EXPECT_EQ(found.violation.substr(0, promise.size()), promise);
  testing::expect_golden("recovery_without_" + name, told);
  if (support::long_tests()) expect_holds(scene);  // the rule is what is missed
}

const Scene with_a_spare{.ranks = 2, .spares = 1};

// ---- the promises hold

TEST(RecoveryExplorer, holds_when_nobody_dies) { expect_holds({.ranks = 3, .spares = 1, .deaths = 0}); }

TEST(RecoveryExplorer, holds_for_3_ranks_and_a_spare_of_which_1_dies) { expect_holds({.ranks = 3, .spares = 1}); }

TEST(RecoveryExplorer, holds_for_2_ranks_and_a_spare_of_which_2_die) {
  expect_holds({.ranks = 2, .spares = 1, .deaths = 2});
}

TEST(RecoveryExplorer, holds_when_a_process_has_an_error_of_its_own) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 2, .spares = 1, .deaths = 0, .errors = 1});
  expect_holds({.ranks = 2, .spares = 1, .deaths = 1, .errors = 1});
  expect_holds({.ranks = 3, .spares = 1, .deaths = 0, .errors = 1});
  expect_holds({.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn"), .deaths = 0, .errors = 1});
  expect_holds({.ranks = 2, .spares = 0, .disk = true, .errors = 1});
  expect_holds({.ranks = 3, .spares = 0, .disk = true, .errors = 1});
}

TEST(RecoveryExplorer, holds_for_4_ranks_and_a_spare_of_which_one_has_an_error) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 4, .spares = 1, .deaths = 0, .errors = 1});
}

TEST(RecoveryExplorer, holds_when_two_meet_a_newcomer_and_another_dies) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn"), .deaths = 2});
}

TEST(RecoveryExplorer, holds_when_a_process_is_started) {
  expect_holds({.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn")});
}

TEST(RecoveryExplorer, holds_when_a_process_is_started_and_another_dies_or_errs) {
  expect_holds({.ranks = 2, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn"), .deaths = 2});
  expect_holds({.ranks = 2, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn,shrink"), .errors = 1});
}

TEST(RecoveryExplorer, holds_when_a_process_cannot_start_another) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 3, .spares = 0, .newcomers = 2, .policy = policy("spare,spawn"), .errors = 1});
}

TEST(RecoveryExplorer, holds_when_what_the_first_host_starts_dies) {
  constexpr Mask rank_1_and_newcomers = 0b0011110;
  expect_holds({.ranks = 2,
                .spares = 0,
                .newcomers = 3,
                .policy = policy("spare,spawn"),
                .deaths = 4,
                .mortal = rank_1_and_newcomers});
}

TEST(RecoveryExplorer, holds_when_ranks_are_given_up) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 3, .spares = 0, .policy = policy("spare,shrink"), .deaths = 2});
}

TEST(RecoveryExplorer, holds_when_the_job_ends_and_what_is_left_is_saved) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 3, .spares = 0});
  expect_holds({.ranks = 3, .spares = 0, .disk = true, .deaths = 2});
}

TEST(RecoveryExplorer, holds_when_a_rank_would_die_again) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 2, .spares = 1, .deaths = 2, .faulty = true});
  expect_holds({.ranks = 2, .spares = 1, .policy = policy("spare,shrink"), .deaths = 2, .faulty = true});
  expect_holds(
      {.ranks = 2, .spares = 1, .newcomers = 1, .policy = policy("spare,spawn"), .disk = true, .faulty = true});
}

TEST(RecoveryExplorer, holds_while_the_first_epoch_is_made) {
  expect_holds({.ranks = 2, .spares = 1, .deaths = 1, .from_the_start = true});
  expect_holds({.ranks = 3, .spares = 0, .policy = policy("spare,shrink"), .deaths = 1, .from_the_start = true});
}

/// Representatives of the different processes: the first rank, which calls the spares and starts processes; any other
/// rank; and the spare.
constexpr Mask first_rank = 1U << 0U;
constexpr Mask another_rank = 1U << 2U;
constexpr Mask the_fifth = 1U << 4U;

TEST(RecoveryExplorer, holds_for_4_ranks_and_a_spare_of_which_1_dies) {
  SKIP_IF_SANITIZED();
  expect_holds({.ranks = 4, .spares = 1, .mortal = first_rank});
  expect_holds({.ranks = 4, .spares = 1, .mortal = another_rank});
  expect_holds({.ranks = 4, .spares = 1, .mortal = the_fifth});
}

TEST(RecoveryExplorer, holds_for_4_ranks_when_a_process_is_started) {
  SKIP_IF_SANITIZED();
  for (const Mask mortal : {first_rank, another_rank})
    expect_holds({.ranks = 4, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn"), .mortal = mortal});
}

TEST(RecoveryExplorer, holds_for_larger_jobs) {
  if (!support::long_tests()) GTEST_SKIP() << "set MEND_TEST_LONG=1 to explore these too";
  expect_holds({.ranks = 3, .spares = 1, .deaths = 1, .errors = 1});
  expect_holds({.ranks = 3, .spares = 1, .deaths = 2});
  expect_holds({.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn,shrink"), .errors = 2});
  constexpr Mask rank_1_and_newcomers = 0b0111010;
  expect_holds({.ranks = 3,
                .spares = 0,
                .newcomers = 4,
                .policy = policy("spare,spawn"),
                .deaths = 4,
                .mortal = rank_1_and_newcomers});
  expect_holds({.ranks = 4, .spares = 1, .deaths = 1});
}

// ---- every rule is needed

TEST(RecoveryExplorer, misses_the_revocation_by_a_rank_that_leaves_the_body) {
  expect_missed(Rule::revoke_when_leaving, "revoke_when_leaving", {.ranks = 3, .spares = 0, .deaths = 0, .errors = 1},
                "Termination");
}

TEST(RecoveryExplorer, misses_the_revocation_by_a_rank_that_meets_a_death_in_an_agreement) {
  if (!support::long_tests()) GTEST_SKIP() << "set MEND_TEST_LONG=1 to explore this too";
  expect_missed(Rule::revoke_when_waiting, "revoke_when_waiting", {.ranks = 3, .spares = 1, .deaths = 2},
                "Termination");
}

TEST(RecoveryExplorer, misses_the_call_to_the_spares) {
  expect_missed(Rule::call_spares, "call_spares", {.ranks = 2, .spares = 1, .deaths = 0}, "Termination");
}

TEST(RecoveryExplorer, misses_the_call_to_spares_that_have_parked_before_others_are_there) {
  expect_missed(Rule::call_spares_back, "call_spares_back", {.ranks = 1, .spares = 3, .deaths = 2}, "Termination");
}

TEST(RecoveryExplorer, misses_the_revocation_of_communicators_that_some_may_have_already) {
  SKIP_IF_SANITIZED();
  expect_missed(Rule::revoke_what_some_may_have, "revoke_what_some_may_have", {.ranks = 2, .spares = 2, .deaths = 2},
                "Termination");
}

TEST(RecoveryExplorer, misses_that_all_settle_before_they_shrink) {
  expect_missed(Rule::settle_before_shrinking, "settle_before_shrinking", {.ranks = 2, .spares = 2, .deaths = 2},
                "Termination");
}

TEST(RecoveryExplorer, misses_that_all_settle_before_the_end) {
  expect_missed(Rule::settle_before_ending, "settle_before_ending", {.ranks = 3, .spares = 0}, "Termination");
}

TEST(RecoveryExplorer, misses_the_agreement_on_shrinking) {
  expect_missed(Rule::agree_on_shrinking, "agree_on_shrinking", {.ranks = 2, .spares = 1, .from_the_start = true}, "");
}

TEST(RecoveryExplorer, misses_the_agreement_on_splitting) {
  expect_missed(Rule::agree_on_splitting, "agree_on_splitting", {.ranks = 2, .spares = 1, .errors = 1}, "");
}

TEST(RecoveryExplorer, misses_the_revocation_of_a_failed_candidate) {
  expect_missed(Rule::revoke_failed_candidates, "revoke_failed_candidates", {.ranks = 2, .spares = 1, .errors = 1},
                "Termination");
}

TEST(RecoveryExplorer, misses_the_end_of_a_process_that_cannot_split) {
  expect_missed(Rule::broken_ends_some, "broken_ends_some", {.ranks = 2, .spares = 1, .errors = 1}, "Termination");
}

TEST(RecoveryExplorer, misses_that_an_error_of_one_process_ends_that_process) {
  expect_missed(Rule::errors_end_one, "errors_end_one", {.ranks = 2, .spares = 1, .errors = 1}, "");
}

TEST(RecoveryExplorer, misses_that_a_survivor_has_its_data) {
  expect_missed(Rule::survivors_keep_data, "survivors_keep_data", with_a_spare, "Data");
}

TEST(RecoveryExplorer, misses_that_what_is_left_is_saved) {
  expect_missed(Rule::save_before_ending, "save_before_ending", {.ranks = 2, .spares = 0, .disk = true}, "Data");
}

TEST(RecoveryExplorer, misses_the_agreement_on_whether_somebody_comes) {
  expect_missed(Rule::agree_on_the_newcomer, "agree_on_the_newcomer",
                {.ranks = 3, .spares = 0, .newcomers = 0, .policy = policy("spare,spawn")}, "");
}

TEST(RecoveryExplorer, misses_that_another_process_starts_the_newcomer) {
  expect_missed(Rule::ask_another_host, "ask_another_host",
                {.ranks = 3, .spares = 0, .newcomers = 2, .policy = policy("spare,spawn"), .errors = 1}, "Hosts");
}

TEST(RecoveryExplorer, misses_the_revocation_of_a_failed_meeting) {
  expect_missed(Rule::revoke_failed_meetings, "revoke_failed_meetings",
                {.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn"), .deaths = 2}, "Termination");
}

TEST(RecoveryExplorer, misses_the_agreement_on_connecting) {
  expect_missed(Rule::agree_on_connecting, "agree_on_connecting",
                {.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn"), .deaths = 2}, "");
}

TEST(RecoveryExplorer, misses_the_agreement_on_merging) {
  expect_missed(Rule::agree_on_merging, "agree_on_merging",
                {.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn"), .deaths = 2}, "");
}

}  // namespace
}  // namespace mend::recovery
