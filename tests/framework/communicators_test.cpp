// Ranks that are blocked in communicators of the application, or in agreements, while another rank dies.

#include "tests/support/subject_job.hpp"

namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::SizeIs;

class Blocked : public testing::TestWithParam<std::string> {};

TEST_P(Blocked, is_interrupted_when_a_rank_dies) {
  const auto end = play("blocked_in_a_" + GetParam(), 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(4), Each(EndsWith("are here again"))));
}

INSTANTIATE_TEST_SUITE_P(In, Blocked,
                         testing::Values("dup", "split", "cart", "dup_of_a_split", "split_that_a_factory_has_made",
                                         "communicator_of_a_library"),
                         [](const auto& scenario) { return scenario.param; });

TEST(Derived, communicators_are_interrupted_while_they_are_made_in_several_steps) {
  const auto end = play("one_leaves_a_factory_and_another_waits_for_it_there", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
}

TEST(Derived, communicators_may_leave_ranks_out) {
  const auto end = play("some_take_no_part", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre("rank 0: took part", "rank 1: took part", "rank 2: took no part", "rank 3: took no part"));
}

/// Each half waits within itself; only one of them has lost a rank.
TEST(Derived, communicators_without_a_death_are_interrupted_too) {
  const auto end = play("blocked_where_nobody_has_died", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(4), Each(EndsWith("is here again"))));
}

/// The communicator that the inter-communicator was made of, MPI_COMM_SELF, is interrupted by nothing.
TEST(Derived, communicators_between_single_ranks_are_interrupted_too) {
  const auto end = play("blocked_between_single_ranks", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(4), Each(EndsWith("is here again"))));
}

TEST(Derived, communicators_may_be_freed_by_the_application) {
  const auto end = play("frees_what_it_has_derived", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(4), Each(EndsWith("is here again"))));
}

/// The message that comes late would be taken for one of the next communicator with the same number in the library.
TEST(Derived, communicators_that_are_freed_after_a_death_keep_late_messages_from_others) {
  for (const char* scenario : {"frees_while_others_send", "disconnects_while_others_send"}) {
    const auto end = play(scenario, 4, 1);
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(said(end), AllOf(SizeIs(4), Each(EndsWith("has all in order")))) << end.errors;
  }
}

TEST(Derived, communicators_of_before_a_recovery_are_of_no_use_and_do_no_harm) {
  const auto end = play("uses_what_it_has_derived_before", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(4), Each(EndsWith("is here again"))));
}

TEST(Derived, communicators_made_of_nonsense_are_refused) {
  expect_end(play("derives_with_nonsense", 4, 0), 2,
             "a Cartesian topology needs dimensions, and for each of them whether it is periodic");
}

TEST(Derived, communicators_are_made_anew_in_every_epoch) {
  const auto end = play("many_derived_communicators_and_deaths", 4, 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(4, 12, 2));
}

TEST(Agreeing, ranks_leave_a_loop_together_although_one_dies) {
  const auto end = play("agrees_in_a_loop", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(4), Each(EndsWith("left after 50 rounds, 1 of 2 agreed"))));
}

}  // namespace
