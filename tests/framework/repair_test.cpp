// Recovery in place, and transactions.

#include "tests/support/subject_job.hpp"

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::SizeIs;

/// 10 steps of count(), on 4 ranks.
constexpr const char* right = "total 240 after 10 steps, ";

TEST(InPlace, survivors_stay_in_their_loop_and_the_newcomer_joins_them) {
  const auto end = play("repairs_in_place", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre(EndsWith("1 repairs"), EndsWith("0 repairs"), EndsWith("1 repairs"), EndsWith("1 repairs")));
  EXPECT_THAT(said(end), Each(testing::HasSubstr(right)));
}

TEST(InPlace, survivors_may_keep_newer_data_than_the_newcomer_gets) {
  // Rank 1 has committed 100 when it dies, and rank 2 201.
  const auto end = play("survivors_keep_their_data", 4, 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: value 3, 0 predecessors", "rank 1: value 102, 1 predecessors",
                                     "rank 2: value 202, 1 predecessors", "rank 3: value 303, 0 predecessors"));
}

TEST(InPlace, survivors_keep_their_data_even_if_the_newcomers_get_theirs_from_disk) {
  // Ranks 0 and 1 die, with all copies of rank 0's data, and then 2 and 3.
  const support::ScratchFolder disk;
  const auto end = play("survivors_keep_their_data_and_the_others_come_from_disk", 4, 4,
                        {"--mend-disk", disk.path().string() + ",every=1"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: value 2, 1 predecessors", "rank 1: value 102, 1 predecessors",
                                     "rank 2: value 202, 1 predecessors", "rank 3: value 302, 1 predecessors"));
}

TEST(Transaction, gives_back_what_survivors_have_kept) {
  const auto end = play("takes_back_a_transaction_after_keeping", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: value 1", "rank 1: value 101", "rank 2: value 201", "rank 3: value 301"));
}

TEST(InPlace, a_callback_cannot_repair) {
  expect_end(play("repairs_in_a_callback", 4, 1), 2, "repair.. was called by a callback of on_repair");
}

TEST(ARecovery, in_which_several_are_started_is_the_same_for_all) {
  const auto end = play("three_are_started_in_one_recovery", 4, 0, {"--mend-on-failure", "spawn"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  ASSERT_THAT(said(end), SizeIs(4));
  const std::string same = said(end).front().substr(std::string("rank 0").size());
  EXPECT_THAT(same, testing::HasSubstr("3 died; epoch 1: rank 1: process 1 died"));
  EXPECT_THAT(said(end), Each(EndsWith(same)));
}

TEST(ARecovery, begins_with_the_death_of_a_rank_and_not_with_that_of_a_spare_long_before) {
  const auto end = play("a_rank_dies_long_after_a_spare", 4, 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: 2 died, noticed in time"));
}

TEST(InPlace, rank_0_can_be_replaced) {
  const auto end = play("rank_0_is_repaired_in_place", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre(EndsWith("0 repairs"), EndsWith("1 repairs"), EndsWith("1 repairs"), EndsWith("1 repairs")));
  EXPECT_THAT(said(end), Each(testing::HasSubstr(right)));
}

TEST(InPlace, a_death_during_a_repair_is_repaired_too) {
  const auto end = play("one_dies_in_the_repair_of_another", 4, 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(4));
  EXPECT_THAT(said(end), Each(testing::HasSubstr(right)));
}

TEST(InPlace, ranks_that_leave_the_body_recover_together_with_those_that_stay) {
  const auto end = play("some_repair_and_some_leave_the_body", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith("1 repairs"), EndsWith("in epoch 1"), EndsWith("1 repairs"),
                                     EndsWith("in epoch 1")));
  EXPECT_THAT(said(end), Each(testing::HasSubstr("total 240 after 10 steps")));
}

TEST(InPlace, layers_are_repaired_from_the_outermost) {
  const auto end = play("repairs_layer_by_layer", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith("4 are here again"), EndsWith("4 are here again"),
                                     EndsWith("4 are here again"), EndsWith("4 are here again")));
}

TEST(InPlace, callbacks_may_register_others_for_the_next_repair) {
  const auto end = play("registers_more_in_a_callback", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith(" 1001 calls"), EndsWith(" 1001 calls"), EndsWith(" 1001 calls"),
                                     EndsWith(" 0 calls")));
}

TEST(InPlace, without_spares_the_job_ends_in_one_sentence) {
  expect_end(play("repairs_in_place", 4, 0), 3, "rank 1 .process 1. died and no spare is left");
}

TEST(InPlace, a_body_that_does_not_let_the_end_pass_ends_all_the_same) {
  expect_end(play("swallows_the_end", 4, 0), 3, "rank 1 .process 1. died and no spare is left");
}

TEST(Transaction, is_committed_if_it_went_well_everywhere_and_taken_back_if_not) {
  const auto end = play("takes_back_what_fails_somewhere", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(4));
  EXPECT_THAT(said(end), Each(EndsWith("true false true: 102")));
}

TEST(Transaction, after_a_recovery_needs_no_restore_before) {
  const auto end = play("takes_back_without_having_restored", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(4));
  EXPECT_THAT(said(end), Each(EndsWith("value 2")));
}

TEST(Transaction, takes_back_those_inside_it) {
  const auto end = play("takes_back_what_a_part_has_committed", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("value 0")));
}

TEST(Transaction, inside_another_is_taken_back_to_where_it_began) {
  const auto end = play("takes_back_a_part_after_many_commits_in_it", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("value 1")));
}

TEST(Transaction, in_which_a_rank_repairs_ends_the_job_instead_of_waiting_for_the_newcomer) {
  expect_end(play("repairs_inside_a_transaction", 3, 1), 2,
             "rank [02]: repair\\(\\) was called inside a transaction: let the failure pass");
}

TEST(Transaction, that_a_death_has_ended_is_taken_back_by_the_repair_after_it) {
  const auto end = play("repairs_after_a_transaction", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("value 5")));
}

TEST(Transaction, cannot_restore_a_version_of_before_it) {
  expect_end(play("restores_before_the_beginning_in_a_transaction", 2, 0), 2,
             "restore.version. in a transaction cannot go back to before its beginning");
}

TEST(Transaction, that_throws_leaves_no_version_of_itself) {
  const auto end = play("throws_in_a_transaction", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("11 at version 2, true")));
}

TEST(Transaction, is_taken_back_to_what_a_restore_has_left_before_it) {
  const auto end = play("takes_back_to_what_another_had", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("value 102")));
}

TEST(Transaction, leaves_nothing_of_itself_when_a_process_dies_in_it) {
  const support::ScratchFolder disk;
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--mend-disk", disk.path().string() + ",every=1"}}) {
    const auto end = play("dies_in_a_transaction_after_parts_of_it", 4, 1, options);
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(said(end), SizeIs(4));
    EXPECT_THAT(said(end), Each(EndsWith("found 0, kept true: 1330")));
  }
}

TEST(Transaction, takes_back_a_commit_that_is_under_way) {
  const auto end = play("takes_back_what_it_has_begun_to_commit", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("value 1 at version 1")));
}

TEST(Transaction, begins_with_the_members_that_are_protected_then) {
  const auto end = play("takes_back_other_members_than_were_committed", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("21 and 1 at version 3")));
}

TEST(Transaction, that_throws_does_not_wait_for_a_commit_that_is_under_way) {
  expect_end(play("throws_alone_while_a_commit_is_under_way", 3, 0), 1, "rank 1: on this rank alone");
  const auto end = play("goes_back_after_it_has_thrown_while_a_commit_is_under_way", 3, 0, {"--mend-versions=4"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("value 1")));
}

TEST(Transaction, takes_back_more_parts_than_there_are_versions) {
  const auto end = play("answers_no_after_many_parts", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(said(end), Each(EndsWith("value 7 at version 1")));
}

}  // namespace
