// The message for a job that ends because ranks have no process.

#include "framework/reporting/unfilled_ranks.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace {

using mend::DeathCause;
using mend::Policy;
using mend::ProcessId;
using mend::Rank;
using mend::UnfilledRanks;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const DeathCause by_kill{DeathCause::Kind::signal, SIGKILL};
const DeathCause by_crash{DeathCause::Kind::signal, SIGSEGV};

DeathCause unknown(ProcessId) { return {}; }
DeathCause all_but_2_were_killed(ProcessId process) { return process == ProcessId{2} ? by_crash : by_kill; }

const UnfilledRanks one{{{Rank{1}, ProcessId{5}}}, {Rank{1}}};
const UnfilledRanks four{
    {{Rank{0}, ProcessId{0}}, {Rank{1}, ProcessId{1}}, {Rank{2}, ProcessId{2}}, {Rank{3}, ProcessId{3}}},
    {Rank{2}, Rank{3}}};

TEST(AVacantRank, is_named_with_what_would_have_helped) {
  EXPECT_EQ(mend::describe_unfilled_ranks(one, Policy::parse("spare"), unknown),
            "rank 1 (process 5) died and no spare is left: start with more spares (mend run --spares N, or "
            "--mend-spares N), or allow to start processes (--mend-on-failure spare,spawn) or to go on with fewer "
            "ranks (--mend-on-failure spare,shrink)");
  EXPECT_THAT(mend::describe_unfilled_ranks(one, Policy::parse("spare,spawn"), unknown),
              HasSubstr("and no process could be started instead"));
}

TEST(VacantRanks, are_named_together_with_all_that_died) {
  const std::string sentence = mend::describe_unfilled_ranks(four, Policy::parse("spare"), all_but_2_were_killed);
  EXPECT_THAT(sentence, StartsWith("ranks 0-3 (processes 0-3) died and no spare is left for ranks 2, 3: "));
  EXPECT_THAT(sentence, EndsWith("; cause: ranks 0, 1, 3 (SIGKILL), rank 2 (SIGSEGV)"));
}

TEST(AVacantRank, that_has_died_like_this_before_needs_no_spares) {
  UnfilledRanks again = one;
  again.fault = {Rank{1}, 2, by_crash};
  EXPECT_THAT(mend::describe_unfilled_ranks(again, Policy::parse("spare"), unknown),
              StartsWith("rank 1 died 2 times in a row with no commit in between (SIGSEGV), and no spare is left: the "
                         "program probably fails there by itself"));
  again.tries = 3;
  EXPECT_THAT(mend::describe_unfilled_ranks(again, Policy::parse("spare,spawn"), unknown),
              HasSubstr("no more processes are started after 3 recoveries in a row without a commit"));
}

TEST(AVacantRank, that_has_died_after_a_commit_each_time_is_told_so) {
  UnfilledRanks again = one;
  again.row = {Rank{1}, 4, by_kill};
  again.tries = 3;
  again.between = mend::Between::one_commit;
  EXPECT_THAT(mend::describe_unfilled_ranks(again, Policy::parse("spare,spawn"), unknown),
              AllOf(HasSubstr("no more processes are started after 3 recoveries in a row with at most one commit in "
                              "between: perhaps"),
                    EndsWith("; rank 1 has died 4 times in a row with at most one commit in between (SIGKILL)")));
}

TEST(AVacantRank, that_has_no_spare_because_spares_were_lost_is_told_with_them) {
  UnfilledRanks with = one;
  with.lost_spares.insert(ProcessId{4});
  EXPECT_THAT(mend::describe_unfilled_ranks(with, Policy::parse("spare"), unknown),
              StartsWith("rank 1 (process 5) died and no spare is left (1 spare was lost before: process 4): start"));
  with.lost_spares.insert(ProcessId{7});
  EXPECT_THAT(mend::describe_unfilled_ranks(with, Policy::parse("spare"), unknown),
              HasSubstr("no spare is left (2 spares were lost before: processes 4, 7): start"));
}

TEST(VacantRanks, that_have_all_died_of_one_fault_are_the_programs_fault_before_more_spares_are_advised) {
  UnfilledRanks all = four;
  all.of_all_ranks = true;
  const auto crash = [](ProcessId) { return by_crash; };
  EXPECT_EQ(
      mend::describe_unfilled_ranks(all, Policy::parse("spare"), crash),
      "ranks 0-3 (processes 0-3) died and no spare is left for ranks 2, 3: all ranks died of SIGSEGV, so it "
      "is probably the program that fails, and further spares would be lost as well; if that is wrong, start with "
      "more spares (mend run --spares N, or --mend-spares N)");
  const auto not_the_program = testing::Not(HasSubstr("probably the program"));
  const auto kill = [](ProcessId) { return by_kill; };
  EXPECT_THAT(mend::describe_unfilled_ranks(all, Policy::parse("spare"), kill), not_the_program);
  EXPECT_THAT(mend::describe_unfilled_ranks(all, Policy::parse("spare"), all_but_2_were_killed), not_the_program);
  EXPECT_THAT(mend::describe_unfilled_ranks(all, Policy::parse("spare"), unknown), not_the_program);
  EXPECT_THAT(mend::describe_unfilled_ranks(four, Policy::parse("spare"), crash), not_the_program) << "others live";
}

TEST(AVacantRank, that_was_killed_again_and_again_is_told_so_with_what_to_look_for) {
  UnfilledRanks again = one;
  again.row = {Rank{1}, 3, by_kill};
  EXPECT_EQ(mend::describe_unfilled_ranks(again, Policy::parse("spare"), all_but_2_were_killed),
            "rank 1 (process 5) died and no spare is left; rank 1 has died 3 times in a row with no commit in between "
            "(SIGKILL): find out what ends it there (a lack of memory, for instance), or start with more spares (mend "
            "run --spares N, or --mend-spares N)");
  again.tries = 1;
  EXPECT_THAT(mend::describe_unfilled_ranks(again, Policy::parse("spare,spawn"), all_but_2_were_killed),
              AllOf(HasSubstr("no more processes are started after 1 recovery in a row without a commit"),
                    EndsWith("; rank 1 has died 3 times in a row with no commit in between (SIGKILL)")));
}

TEST(AVacantRank, that_stood_still_again_and_again_is_told_to_look_there_or_to_give_it_more_time) {
  UnfilledRanks again = one;
  again.row = {Rank{1}, 3, {DeathCause::Kind::silence, 1000}};
  EXPECT_EQ(
      mend::describe_unfilled_ranks(again, Policy::parse("spare"), unknown),
      "rank 1 (process 5) died and no spare is left; rank 1 has died 3 times in a row with no commit in between "
      "(silent for 1000 ms): it did not respond for longer than --mend-timeout and was killed: find out what blocks it "
      "there (SIGSTOP, or reading from a terminal, for instance), or give it more time (--mend-timeout MS)");
  again.tries = 10;
  EXPECT_EQ(mend::describe_unfilled_ranks(again, Policy::parse("spare,spawn"), unknown),
            "rank 1 (process 5) died and no spare is left, and no more processes are started after 10 recoveries in a "
            "row without a commit; rank 1 has died 3 times in a row with no commit in between (silent for 1000 ms): it "
            "did not respond for longer than --mend-timeout and was killed: find out what blocks it there (SIGSTOP, or "
            "reading from a terminal, for instance), or give it more time (--mend-timeout MS)");
}

TEST(AVacantRank, of_a_job_that_neither_had_spares_nor_uses_them_does_not_speak_of_them) {
  UnfilledRanks without = one;
  without.spares = 0;
  EXPECT_THAT(mend::describe_unfilled_ranks(without, Policy::parse("spawn"), unknown),
              StartsWith("rank 1 (process 5) died and nobody took over, and no process could be started instead: "));
}

TEST(AVacantRank, that_has_left_by_a_quick_way_out_is_told_so_in_grammar) {
  EXPECT_THAT(mend::describe_unfilled_ranks(one, Policy::parse("spare"),
                                            [](ProcessId) {
                                              return DeathCause{DeathCause::Kind::left, 3};
                                            }),
              EndsWith("; cause: rank 1 (exited with code 3)"));
}

}  // namespace
