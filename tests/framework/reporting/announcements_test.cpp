// The messages of a job about deaths, and the rule for deaths by the program's own fault.

#include "framework/reporting/announcer.hpp"
#include "framework/reporting/loss_advice.hpp"
#include "framework/reporting/repeated_deaths.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <map>
#include <vector>

namespace {

using mend::DeathCause;
using mend::LostRank;
using mend::Milliseconds;
using mend::ProcessId;
using mend::Rank;
using mend::RecoveryReport;
using Kind = DeathCause::Kind;

const DeathCause killed{Kind::signal, SIGKILL};
const DeathCause crashed{Kind::signal, SIGSEGV};

/// Processes that are not in `known` have died of an unknown cause.
mend::CauseOf causes(const std::map<std::uint32_t, DeathCause>& known) {
  return [known](ProcessId process) {
    const auto found = known.find(process.value);
    return found == known.end() ? DeathCause{} : found->second;
  };
}

RecoveryReport recovery(std::vector<mend::Replacement> replacements) {
  RecoveryReport report;
  for (const auto& one : replacements) report.dead.push_back(one.dead);
  report.replacements = std::move(replacements);
  report.interrupt = Milliseconds{1};
  report.agree = Milliseconds{2};
  report.rebuild = Milliseconds{3.5};
  report.restore = Milliseconds{100};
  return report;
}

TEST(ARecovery, is_told_with_who_died_of_what_who_took_over_and_what_is_left) {
  const auto report = recovery({{Rank{1}, ProcessId{1}, ProcessId{4}}});
  EXPECT_EQ(mend::describe_recovery(report, 1, causes({{1, killed}})),
            "rank 1: process 1 died (SIGKILL), process 4 took over; the ranks are complete after 6.5 ms; 1 spare is "
            "left");
  EXPECT_EQ(mend::describe_recovery(report, 0, causes({})),
            "rank 1: process 1 died, process 4 took over; the ranks are complete after 6.5 ms; no spare is left");
}

TEST(ALossAtTheStart, is_told_with_who_died_of_what_and_what_is_left) {
  const std::vector<ProcessId> dead{ProcessId{1}, ProcessId{3}};
  EXPECT_EQ(mend::describe_losses_at_start(std::span(dead).first(1), {2, 3}, std::nullopt, causes({{1, killed}})),
            "process 1 died (SIGKILL) before the job had begun; the job begins with 2 ranks instead of 3");
  EXPECT_EQ(mend::describe_losses_at_start(dead, {3, 3}, 0, causes({{1, killed}})),
            "process 1 died (SIGKILL) before the job had begun; process 3 died before the job had begun; no spare is "
            "left");
}

TEST(ARecovery, of_a_job_without_spares_does_not_count_them) {
  EXPECT_EQ(mend::describe_recovery(recovery({{Rank{1}, ProcessId{1}, ProcessId{4}}}), std::nullopt, causes({})),
            "rank 1: process 1 died, process 4 took over; the ranks are complete after 6.5 ms");
}

TEST(ARecovery, without_a_death_is_told_as_one_that_a_rank_asked_for_if_it_did) {
  const std::string how = "(by repair(), or by a process failure that left the body though none had been met)";
  const std::string end = "; the ranks are complete after 6.5 ms; 1 spare is left";
  EXPECT_EQ(mend::describe_recovery(recovery({}), 1, causes({}), {true, {}}),
            "nobody died, and a rank asked for a recovery " + how + end);
  EXPECT_EQ(mend::describe_recovery(recovery({}), 1, causes({}), {true, {Rank{0}, Rank{2}}}),
            "nobody died, and ranks 0, 2 asked for a recovery " + how + end);
  EXPECT_EQ(mend::describe_recovery(recovery({}), 1, causes({})),
            "the ranks lost each other though nobody died; the ranks are complete after 6.5 ms; 1 spare is left");
}

TEST(ARecovery, is_told_with_ranks_that_were_given_up_and_spares_that_died) {
  auto report = recovery({{Rank{0}, ProcessId{0}, ProcessId{4}}});
  report.given_up = {{Rank{2}, ProcessId{2}}};
  report.dead = {ProcessId{0}, ProcessId{2}, ProcessId{5}};
  EXPECT_EQ(
      mend::describe_recovery(report, 2,
                              causes({{0, {Kind::exit, 3}}, {2, {Kind::left, 3}}, {5, {Kind::silence, 1000}}})),
      "rank 0: process 0 died (exit(3)), process 4 took over; rank 2: process 2 died (exited with code 3), the rank "
      "was "
      "given up; spare process 5 died (silent for 1000 ms); the ranks are complete after 6.5 ms; 2 spares are left");
}

TEST(ARankThatDiesAgain, is_the_programs_fault_when_nobody_else_kills_it) {
  const std::vector<RecoveryReport> before{recovery({{Rank{2}, ProcessId{2}, ProcessId{4}}}),
                                           recovery({{Rank{1}, ProcessId{1}, ProcessId{5}}}),
                                           recovery({{Rank{1}, ProcessId{5}, ProcessId{6}}})};
  const std::vector<LostRank> now{{Rank{1}, ProcessId{6}}};
  const auto found = mend::find_repeated_death(before, now, causes({{1, crashed}, {5, crashed}, {6, crashed}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, Rank{1});
  EXPECT_EQ(found->times, 3);
  EXPECT_EQ(found->cause, crashed);
  EXPECT_EQ(mend::describe_repeated(found),
            "; rank 1 has died 3 times in a row with no commit in between (SIGSEGV): it is probably the program that "
            "fails there");
}

TEST(ARankThatDiesAgain, is_not_the_programs_fault_when_it_is_killed_or_another_dies) {
  const std::vector<RecoveryReport> before{recovery({{Rank{1}, ProcessId{1}, ProcessId{4}}})};
  const std::vector<LostRank> same{{Rank{1}, ProcessId{4}}};
  const std::vector<LostRank> other{{Rank{0}, ProcessId{0}}};
  EXPECT_FALSE(mend::find_repeated_death(before, same, causes({{1, crashed}, {4, killed}})));
  EXPECT_FALSE(mend::find_repeated_death(before, same, causes({{1, killed}, {4, crashed}})));
  EXPECT_FALSE(mend::find_repeated_death(before, same, causes({{1, {Kind::silence, 1000}}, {4, crashed}})));
  EXPECT_FALSE(mend::find_repeated_death(before, other, causes({{0, crashed}, {1, crashed}})));
  EXPECT_FALSE(mend::find_repeated_death({}, same, causes({{4, crashed}})));
  EXPECT_EQ(mend::describe_repeated(std::nullopt), "");
}

TEST(ARankThatDiesAgain, is_counted_whatever_it_dies_of_for_a_sentence) {
  const std::vector<RecoveryReport> before{recovery({{Rank{1}, ProcessId{1}, ProcessId{4}}}),
                                           recovery({{Rank{1}, ProcessId{4}, ProcessId{5}}})};
  const auto found = mend::find_deaths_in_a_row(before, std::vector<LostRank>{{Rank{1}, ProcessId{5}}},
                                                causes({{1, crashed}, {4, killed}, {5, killed}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->times, 3);
  EXPECT_EQ(found->cause, killed);
  EXPECT_FALSE(mend::find_deaths_in_a_row(before, std::vector<LostRank>{{Rank{0}, ProcessId{0}}}, causes({})));
}

TEST(ARankThatDiesAgain, counts_deaths_of_which_nothing_is_known_yet_with_one_that_is_known) {
  const std::vector<RecoveryReport> before{recovery({{Rank{1}, ProcessId{1}, ProcessId{4}}})};
  const std::vector<LostRank> now{{Rank{1}, ProcessId{4}}};
  EXPECT_FALSE(mend::find_repeated_death(before, now, causes({})));
  EXPECT_EQ(mend::find_repeated_death(before, now, causes({}), mend::Unknown::counts)->times, 2);
  EXPECT_FALSE(mend::find_repeated_death(before, now, causes({{1, killed}}), mend::Unknown::counts));
  EXPECT_EQ(mend::find_repeated_death(before, now, causes({{1, {Kind::exit, 0}}}))->times, 2);
  EXPECT_EQ(mend::find_repeated_death(before, now, causes({{4, {Kind::terminate, 0}}}))->times, 2);
}

TEST(Advice, on_lost_data_names_who_died_within_what_time_and_what_survives_that) {
  const mend::WallClock::time_point start{std::chrono::hours(1)};
  const std::vector<mend::RankDeath> lost{{Rank{1}, killed, start + std::chrono::microseconds(400)},
                                          {Rank{2}, {}, start}};
  EXPECT_EQ(mend::advise_on_loss(lost, 4, false),
            "; rank 1 (SIGKILL), rank 2 died within 0.4 ms: start again with --mend-redundancy replicas:2, which "
            "survives the loss of any 2 ranks, or with --mend-disk DIR, which keeps versions on disk");
  EXPECT_EQ(mend::advise_on_loss(lost, 2, true), "; rank 1 (SIGKILL), rank 2 died within 0.4 ms");
  EXPECT_EQ(mend::advise_on_loss(std::span(lost).last(1), 2, true),
            "; rank 2 died: start again with --mend-redundancy partner, which survives the loss of a rank");
  EXPECT_EQ(mend::advise_on_loss({}, 4, false), "");
}

}  // namespace
