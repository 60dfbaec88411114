// Jobs that continue with fewer ranks: ranks are renumbered without those given up, or those are left blank.

#include "tests/framework/place_name.hpp"
#include "tests/support/subject_job.hpp"

#include <fmt/format.h>

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

support::JobEnd play_with(const std::string& rungs, const std::string& scenario, int ranks, int spares,
                          std::vector<std::string> options = {}) {
  options.push_back("--mend-on-failure=" + rungs);
  return play(scenario, ranks, spares, options);
}

TEST(Shrink, closes_the_ranks_up) {
  const auto end = play_with("spare,shrink", "one_is_given_up", 4, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("0 of 3: 0 (was 0), 1 (was 2), 2 (was 3);"), HasSubstr("1 of 3"),
                                     HasSubstr("2 of 3")));
  EXPECT_THAT(said(end), Each(EndsWith("sum 530, given up 1")));
}

TEST(Shrink, goes_on_after_each_death) {
  const auto end = play_with("shrink", "one_after_another_is_given_up", 4, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("0 of 2: 0 (was 1), 1 (was 3);"), HasSubstr("1 of 2")));
  EXPECT_THAT(said(end), Each(EndsWith("sum 420, given up 0 1"))) << "numbered as just before";
}

TEST(Shrink, leaves_one_rank_if_it_must) {
  const auto end = play_with("shrink", "all_but_one_are_given_up", 4, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith("0 of 1: 0 (was 2); sum 210, given up 0 1 3")));
}

TEST(Shrink, takes_another_redundancy_when_too_few_are_left_for_it) {
  const auto end = play_with("shrink", "one_is_given_up", 4, 0, {"--mend-redundancy=xor:4"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(end.errors, HasSubstr("3 ranks are left, too few for redundancy xor:4: partner is used now"));
}

TEST(Shrink, comes_after_the_spares) {
  const auto end = play_with("spare,shrink", "fewer_begin_anew", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(4));
}

TEST(Shrink, leaves_the_body_as_any_recovery_does) {
  const auto end = play_with("shrink", "fewer_begin_anew", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("0 of 3"), HasSubstr("1 of 3"),
                                     HasSubstr("2 of 3: 0 (was 0), 1 (was 2), 2 (was 3)")));
}

TEST(Shrink, says_when_what_was_committed_cannot_be_restored) {
  expect_end(play_with("shrink", "one_is_given_up_and_the_body_entered_again", 4, 0), 2,
             "'step' is kept rank by rank, and version 5 was committed by 4 ranks");
}

TEST(Shrink, gives_arrays_to_the_ranks_that_are_left) {
  const auto hash_of = [](const std::string& line) { return line.substr(line.rfind(' ') + 1); };
  const auto undisturbed = said(play("evolves_a_table:30", 2, 0));
  ASSERT_THAT(undisturbed, SizeIs(2));
  for (const char* redundancy : {"partner", "replicas:2", "rs:2+2"}) {
    for (const char* rung : {"shrink", "blank"}) {
      const auto end =
          play_with(rung, "evolves_a_table:30;1@commit.vote", 4, 0, {fmt::format("--mend-redundancy={}", redundancy)});
      EXPECT_EQ(end.exit_code, 0) << end.errors;
      EXPECT_THAT(said(end), SizeIs(3));
      EXPECT_THAT(said(end), Each(EndsWith("in epoch 1 from nothing: " + hash_of(undisturbed.front()))));
      const auto later = play_with(rung, "evolves_a_table:30;1@commit.pack+12", 4, 0,
                                   {fmt::format("--mend-redundancy={}", redundancy)});
      EXPECT_THAT(said(later), SizeIs(3)) << later.errors;
      EXPECT_THAT(said(later), Each(EndsWith("in epoch 1 from memory: " + hash_of(undisturbed.front()))));
    }
  }
}

class ShrinkAtPoint : public testing::TestWithParam<std::string> {};

TEST_P(ShrinkAtPoint, gives_up_the_one_that_dies_there_too) {
  const auto end = play_with("shrink", "gives_up_two:" + GetParam(), 4, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("0 of 2: 0 (was 0), 1 (was 2);"), HasSubstr("1 of 2")));
  EXPECT_THAT(said(end), Each(HasSubstr("sum 220")));
}

INSTANTIATE_TEST_SUITE_P(EveryPoint, ShrinkAtPoint,
                         testing::Values("recovery.interrupt", "ballot.before", "decision.before", "recovery.begin",
                                         "recovery.settle", "recovery.shrink", "recovery.shrunk", "recovery.plan",
                                         "recovery.split", "recovery.split_store", "recovery.confirm", "recovery.done",
                                         "commit.pack", "commit.exchange", "commit.vote", "commit.publish"),
                         place_name<std::string>);

TEST(Transaction, after_ranks_were_given_up_goes_back_to_where_it_began) {
  for (const char* ladder : {"shrink", "blank"}) {
    const auto end = play("one_is_given_up_and_then_come_units", 4, 0,
                          {"--mend-on-failure", ladder, "--mend-redundancy", "replicas:2"});
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(said(end), testing::SizeIs(2));
    EXPECT_THAT(said(end), Each(EndsWith("value 101")));
  }
}

TEST(Blank, reports_ranks_by_their_original_numbers) {
  const auto end = play_with("spare,blank", "one_is_given_up", 4, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("0 of 3: 0 (was 0), 1 (was 2), 2 (was 3);"), HasSubstr("1 of 3"),
                                     HasSubstr("2 of 3")));
  EXPECT_THAT(said(end), Each(EndsWith("sum 530, given up 1")));
}

TEST(Blank, takes_data_of_ranks_that_are_named_as_in_the_communicator) {
  const auto end = play_with("blank", "one_is_given_up_and_all_take_the_data_of_rank_3", 4, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre(HasSubstr("rank 0: 0, 300"), HasSubstr("rank 1: 200, 300"), HasSubstr("rank 2: 300, 300")));
  EXPECT_THAT(said(end), Each(EndsWith("there is no rank 3 to restore from: there are 3")));
}

TEST(Blank, reports_one_loss_after_another_by_original_numbers) {
  const auto end = play_with("blank", "one_after_another_is_given_up", 4, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("0 of 2: 0 (was 1), 1 (was 3);"), HasSubstr("1 of 2")));
  EXPECT_THAT(said(end), Each(EndsWith("sum 420, given up 0 2")));
}

TEST(OnFailure, refuses_what_it_does_not_know_in_one_sentence) {
  expect_end(play_with("pray", "fewer_begin_anew", 2, 0), 2, "'pray' is not a policy for failures");
}

}  // namespace
