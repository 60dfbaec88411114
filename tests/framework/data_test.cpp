// The data that the body finds when it is entered again, after different deaths.

#include "tests/support/subject_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::SizeIs;

void expect_counted(const support::JobEnd& end, int ranks, long steps, int epoch) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(ranks, steps, epoch)) << end.errors;
}

TEST(Recovery, is_not_needed_when_nobody_dies) {
  for (int ranks : {1, 2, 4}) expect_counted(play("nobody_dies", ranks, 1), ranks, 10, 0);
}

TEST(Recovery, takes_up_the_count_where_it_was_whoever_died) {
  for (const char* scenario : {"rank_0_dies", "rank_1_dies"}) {
    for (int ranks : {2, 3, 4}) {
      const auto end = play(scenario, ranks, 1);
      expect_counted(end, ranks, 10, 1);
      EXPECT_THAT(
          support::lines_of(end.errors),
          testing::ElementsAre(
              testing::ContainsRegex("note: rank [01]: process [01] died( .SIGKILL.)?, process [2-4] took over"),
              testing::ContainsRegex("1 recovery: 1 process died, 1 rank was taken over; .* ms until")));
    }
  }
}

TEST(Recovery, of_a_single_rank_finds_nothing_and_was_warned_of) {
  const auto end = play("rank_0_dies", 1, 1);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(support::lines_of(end.errors),
              IsSupersetOf({HasSubstr("single rank"), HasSubstr("the data that they committed is lost")}));
}

TEST(Recovery, of_all_ranks_at_once_begins_anew_before_the_first_commit) {
  for (const int ranks : {1, 2, 3}) expect_counted(play("all_ranks_die_before_a_commit", ranks, ranks), ranks, 10, 1);
}

TEST(Recovery, of_all_ranks_at_once_says_that_their_data_are_lost) {
  for (const auto& [ranks, spares, options] :
       std::vector<std::tuple<int, int, std::vector<std::string>>>{{2, 2, {}},
                                                                   {2, 2, {"--mend-spare-memory=none"}},
                                                                   {3, 4, {}},
                                                                   {2, 1, {"--mend-on-failure=spare,spawn"}},
                                                                   {3, 1, {"--mend-on-failure=spare,shrink"}}}) {
    expect_end(play("all_ranks_die_after_a_commit", ranks, spares, options), 3,
               "all ranks have died, and the data that they committed is lost: no living process has any part of it; "
               "the job must "
               "be started again");
  }
}

TEST(Recovery, goes_on_as_long_as_there_are_spares) {
  expect_counted(play("a_rank_dies_in_every_epoch", 3, 5), 3, 17, 5);
}

TEST(Recovery, without_spares_is_a_clear_end) {
  expect_end(play("rank_1_dies", 3, 0), 3, "rank 1 \\(process 1\\) died and no spare is left: .*--spares");
}

TEST(Recovery, that_has_used_up_its_spares_is_a_clear_end) {
  expect_end(play("a_rank_dies_in_every_epoch", 3, 2), 3, "rank 2 \\(process 2\\) died and no spare is left");
}

TEST(Recovery, by_starting_processes_ends_when_nothing_comes_of_it) {
  const auto end = play("dies_at_step_5_again_and_again", 2, 0, {"--mend-on-failure=spawn", "--mend-spawn-tries=3"});
  expect_end(end, 3,
             "rank 1 \\(process 4\\) died and nobody took over, and no more processes are started after 3 recoveries "
             "in a row without a commit: .*--mend-tries N.; rank 1 has died 4 times in a row .*.SIGKILL.");
}

TEST(Recovery, by_starting_processes_starts_them_as_others_were_whatever_main_has_made_of_that) {
  const auto end = play("takes_its_beginning_apart:one,two", 2, 0, {"--mend-on-failure=spawn"});
  EXPECT_THAT(said(end), ElementsAre("rank 0: takes_its_beginning_apart one two unset",
                                     "rank 1: takes_its_beginning_apart one two unset"))
      << end.errors;
}

TEST(Recovery, that_comes_to_nothing_though_nobody_dies_ends) {
  expect_end(play("fails_though_nobody_dies", 2, 0, {"--mend-spawn-tries=3"}), 1,
             "4 recoveries in a row failed, and nobody died in the last one");
}

TEST(Recovery, that_a_program_asks_for_after_each_commit_ends) {
  expect_end(
      play("asks_for_a_recovery_after_each_commit", 3, 1, {"--mend-tries=4"}), 1,
      "5 recoveries in a row with at most one commit in between, and nobody had died in any: the program asks for "
      "them itself");
}

TEST(Recovery, that_a_program_asks_for_when_it_has_come_further_is_given_as_often_as_it_wants) {
  const auto end = play("asks_for_a_recovery_after_each_two_commits", 3, 1, {"--mend-tries=4"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: step 30", "rank 1: step 30", "rank 2: step 30"));
}

TEST(Recovery, by_starting_processes_ends_when_the_same_rank_dies_after_each_commit) {
  expect_end(
      play("dies_after_each_commit", 2, 0, {"--mend-on-failure=spawn", "--mend-tries=3"}), 3,
      "rank 1 .process [0-9]+. died and nobody took over, and no more processes are started after 3 recoveries in "
      "a row with at most one commit in between: .*; rank 1 has died 4 times in a row with at most one commit in "
      "between .SIGKILL");
}

TEST(Recovery, that_uses_up_the_spares_for_one_rank_though_there_were_commits_names_it) {
  expect_end(
      play("dies_after_each_commit", 2, 2), 3,
      "rank 1 .process [0-9]+. died and no spare is left; rank 1 has died 3 times in a row with at most one commit "
      "in between .SIGKILL.: find out what ends it there");
}

TEST(Recovery, by_starting_processes_goes_on_when_one_rank_dies_after_another_with_a_commit_in_between) {
  const auto end = play("another_rank_dies_after_each_commit", 3, 0, {"--mend-on-failure=spawn", "--mend-tries=3"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(3, 1000, 8));
}

TEST(Recovery, of_started_processes_that_die_in_large_commits_one_after_another) {
  const auto end = play("started_processes_die_in_large_commits", 4, 0, {"--mend-on-failure=spawn"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre("rank 0: value 20 everywhere in epoch 8", "rank 1: value 21 everywhere in epoch 8",
                          "rank 2: value 22 everywhere in epoch 8", "rank 3: value 23 everywhere in epoch 8"));
}

TEST(Recovery, names_all_ranks_it_has_no_spare_for) {
  expect_end(play("ranks_0_and_1_die", 4, 1), 3,
             "ranks 0, 1 \\(processes 0, 1\\) died and no spare is left for rank 1: .*; cause: ranks 0, 1 .SIGKILL.");
  expect_end(play("ranks_0_and_1_die", 4, 0), 3, "ranks 0, 1 \\(processes 0, 1\\) died and no spare is left: ");
  expect_end(play("ranks_0_to_3_die", 5, 1), 3,
             "ranks 0-3 \\(processes 0-3\\) died and no spare is left for ranks 1-3: .*; cause: ranks 0-3 .SIGKILL.");
  expect_end(play("all_ranks_die_before_a_commit", 4, 1), 3,
             "ranks 0-3 \\(processes 0-3\\) died and no spare is left for ranks 1-3: .*; cause: ranks 0-3 .SIGKILL.");
}

TEST(DataLoss, names_rank_and_version) {
  expect_end(play("a_rank_and_its_holder_die", 4, 2), 3,
             "the data of rank 1 at version 5 is lost.*; rank 1 .SIGKILL., rank 2 .SIGKILL. died within [0-9.]+ ms: "
             "start again with --mend-redundancy replicas:2, .*, or with --mend-disk DIR");
}

TEST(Data, that_was_never_committed_is_computed_again) {
  const auto end = play("never_commits", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(3), Each(EndsWith("sum 30 from version 0"))));
}

TEST(Data, need_not_be_restored_and_versions_go_on_counting) {
  const auto end = play("never_restores", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(3), Each(EndsWith("step 4 is version 6"))));
}

TEST(Data, of_another_shape_is_refused) {
  expect_end(
      play("protects_another_shape_after_the_failure", 3, 1), 2,
      "member 'values' is protected as array of 8 bytes \\[11\\] but was committed as array of 8 bytes \\[10\\]");
}

TEST(Data, can_be_restored_again_and_again) {
  const auto end = play("restores_twice", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: value 0", "rank 1: value 1", "rank 2: value 2"));
}

TEST(Recovery, follows_when_a_process_has_no_memory_for_others_data) {
  const auto end = play("a_rank_has_no_memory_for_the_copy_it_is_to_hold", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(3), Each(EndsWith("step 3 in epoch 1"))));
  EXPECT_THAT(end.errors,
              HasSubstr("process 1 cannot go on: there is no memory for what it is to keep of other ranks' data"));
}

TEST(Data, are_the_same_however_their_changes_are_found) {
  const auto by_hash = play("ranks_die_while_a_table_changes_here_and_there", 3, 3);
  const auto by_writes =
      play("ranks_die_while_a_table_changes_here_and_there", 3, 3, {"--mend-find-changes", "writes"});
  EXPECT_EQ(by_hash.exit_code, 0) << by_hash.errors;
  EXPECT_EQ(by_writes.exit_code, 0) << by_writes.errors;
  EXPECT_THAT(said(by_hash), AllOf(SizeIs(3), Each(EndsWith("in epoch 3"))));
  EXPECT_EQ(said(by_writes), said(by_hash));
}

TEST(ASpare, has_memory_ready_for_what_a_rank_keeps) {
  const support::ScratchFolder folder;
  const auto end = play("has_a_spare_with_memory:" + folder.path().string(), 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: value 0", "rank 1: 2 blocks of memory were ready, 0 are left",
                                     "rank 1: value 1", "rank 2: value 2"));
}

TEST(ASpare, that_dies_while_it_gets_memory_is_not_missed) {
  const support::ScratchFolder folder;
  const auto end = play(fmt::format("has_a_spare_with_memory:{};3", folder.path().string()), 3, 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: value 0", "rank 1: 2 blocks of memory were ready, 0 are left",
                                     "rank 1: value 1", "rank 2: value 2"));
}

TEST(ASpare, gets_no_memory_unless_it_may) {
  const auto end = play("has_a_spare_with_memory:none", 3, 1, {"--mend-spare-memory", "none"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), Contains("rank 1: 0 blocks of memory were ready, 0 are left"));
}

TEST(CommitDue, with_auto_commits_now_and_then_on_all_ranks_alike) {
  // A short time between failures, so that the interval is many steps but not endless.
  const auto end = play("commits_when_due", 3, 1, {"--mend-commit-every", "auto", "--mend-mtbf", "0.01"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  const auto lines = said(end);
  for (const std::string& line : counted(3, 60, 1)) EXPECT_THAT(lines, Contains(line));
  EXPECT_THAT(lines, Contains(ContainsRegex("version [1-9]")).Times(3));
}

TEST(CommitDue, every_n_steps_commits_that_often) {
  const auto end = play("commits_when_due", 2, 1, {"--mend-commit-every=7"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  const auto lines = said(end);
  for (const std::string& line : counted(2, 60, 1)) EXPECT_THAT(lines, Contains(line));
  // 5 commits until step 40, which is repeated from 35. Counting starts again there: 42, 49, 56.
  EXPECT_THAT(lines, Contains(EndsWith("version 8")).Times(2));
}

TEST(Session, tells_who_survived_and_who_is_new) {
  const auto end = play("tells_its_role", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: survivor process 0 predecessors 0 recoveries 1 dead 1",
                                     "rank 1: newcomer process 3 predecessors 1 recoveries 1 dead 1",
                                     "rank 2: survivor process 2 predecessors 0 recoveries 1 dead 1"));
}

TEST(Session, tells_of_a_recovery_the_same_in_a_process_that_was_started_in_it) {
  const auto end = play("tells_of_its_last_recovery", 3, 0, {"--mend-on-failure=spawn"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  const auto lines = said(end);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], ContainsRegex("rank 0: epoch 1 rounds [2-9] dead 1 new 1"));
  for (const std::string& line : lines) EXPECT_THAT(line, EndsWith(lines[0].substr(lines[0].find(": "))));
}

TEST(Session, check_notices_a_death_without_any_MPI_call) {
  const auto end = play("checks_while_computing", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
}

}  // namespace
