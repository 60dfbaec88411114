// Jobs whose body throws, or whose ranks call different operations: they end with one sentence and the right exit code,
// and do not hang.

#include "tests/support/subject_job.hpp"

#include <fmt/format.h>

namespace {

TEST(ErrorHandlers, of_the_program_stay_unless_they_would_end_the_job) {
  const auto end = play("has_handlers_of_its_own", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), (std::vector<std::string>{"rank 0: has its own", "rank 1: has its own", "rank 2: has its own"}));
}

TEST(AnException, on_one_rank_ends_the_job_although_the_others_are_blocked) {
  expect_end(play("one_rank_throws", 4, 0), 1, "rank 2: no more ink");
}

TEST(AnException, on_one_rank_ends_the_job_although_spares_wait) {
  expect_end(play("one_rank_throws", 3, 1), 1, "rank 2: no more ink");
}

TEST(AnException, on_all_ranks_is_told_once) {
  expect_end(play("all_ranks_throw", 4, 1), 1, "rank [0-3]: no more ink");
}

TEST(AnException, is_told_by_another_when_the_rank_that_was_to_tell_it_dies) {
  expect_end(play("all_ranks_throw_and_who_was_to_tell_dies", 4, 1), 1, "rank [1-3]: no more ink");
}

TEST(AnException, of_a_rank_that_dies_before_it_is_told_does_not_end_the_job_silently) {
  expect_end(play("one_rank_throws_and_dies_before_it_is_told", 4, 1), 1,
             "a process that has died before it could say");
}

/// The child has mpirun's pipe as its standard output, and mpirun waits for the end of that.
TEST(AChild, that_a_dead_rank_has_left_does_not_keep_the_job) {
  const auto end = play("a_dead_ranks_child_stays", 2, 0, {"--mend-on-failure=shrink"});  // takes a tenth of a second
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::ElementsAre("rank 0: done"));
}

TEST(Abort, by_one_rank_ends_the_job_with_its_code_although_a_spare_waits) {
  expect_end(play("one_rank_aborts", 3, 1), 7, "a process ended the job by MPI_Abort with code 7");
}

TEST(Abort, by_all_ranks_is_told_once_and_is_an_error_whatever_the_code) {
  expect_end(play("all_ranks_abort", 4, 0), 1, "a process ended the job by MPI_Abort with code 256");
}

TEST(Abort, of_a_process_alone_is_its_death) {
  const auto end = play("one_rank_aborts_alone", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(3, 10, 1));
}

TEST(AFailure, does_not_throw_again_out_of_destructors_on_its_way) {
  const auto end = play("calls_MPI_in_a_destructor", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(4, 10, 1));
}

TEST(AFailure, met_in_a_destructor_at_the_end_of_a_scope_is_thrown_by_the_next_call) {
  const auto end = play("calls_MPI_in_a_destructor_at_the_end_of_each_step", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(4, 10, 1));
}

TEST(AFailure, met_in_a_destructor_is_thrown_by_the_next_call_also_in_a_rank_whose_cluster_goes_back) {
  const auto end =
      play("calls_MPI_in_a_destructor_at_the_end_of_each_step", 4, 1, {"--mend-rollback=local", "--mend-clusters=2"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
}

TEST(AnException, of_an_MPI_call_in_a_destructor_comes_with_the_next_call_of_mend) {
  expect_end(play("an_MPI_mistake_in_a_destructor", 3, 0), 1, "rank 1: .*MPI_ERR_RANK.*in a destructor");
}

TEST(ACommit, that_one_rank_cannot_pack_ends_the_job_and_says_why) {
  expect_end(play("one_rank_cannot_pack", 3, 0), 1, "the drawer is stuck");
}

TEST(ACommit, that_was_refused_does_not_spoil_those_before_and_after) {
  for (const char* redundancy : {"partner", "xor:2", "rs:2+1"}) {
    const auto end = play("one_rank_cannot_pack_for_a_while", 4, 1, {"--mend-redundancy", redundancy});
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_THAT(end.output, testing::HasSubstr(fmt::format("rank {}: version 3: 5 5", rank)));
  }
}

TEST(AnException, that_is_no_std_exception_ends_the_job_all_the_same) {
  expect_end(play("one_rank_throws_a_number", 3, 1), 1, "rank 2: .*exception");
}

TEST(AnException, of_misuse_has_its_own_exit_code) {
  expect_end(play("one_rank_misuses", 3, 0), 2, "rank 1: a protected member needs a name");
}

TEST(AnException, after_the_last_step_still_ends_the_job) {
  const auto end = play("throws_in_the_last_step_of_one_rank", 3, 0);
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(support::lines_of(end.errors), testing::ElementsAre(testing::ContainsRegex("rank 0: .*bad_alloc")));
}

TEST(AnException, of_a_newcomer_ends_the_job) {
  expect_end(play("throws_after_a_recovery", 3, 1), 1, "rank 1: the newcomer has no ink");
}

TEST(AnException, that_a_recovery_has_followed_is_not_told_at_a_later_end) {
  expect_end(play("throws_when_it_meets_a_death_and_later_another_rank_throws", 3, 1), 1, "rank 2: no more ink");
}

TEST(AnException, of_an_MPI_call_names_the_mistake) {
  expect_end(play("an_MPI_mistake", 3, 0), 1, "rank 1: .*MPI_ERR_RANK");
}

TEST(AFailure, is_what_a_rank_that_exits_at_once_in_the_body_is_to_the_others) {
  const auto end = play("exits_at_once_in_the_body", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(4, 10, 1));
}

TEST(AFailure, that_the_body_swallows_is_recovered_from_all_the_same) {
  const auto end = play("swallows_the_failure", 4, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  for (const std::string& line : counted(4, 10, 1)) EXPECT_THAT(said(end), testing::Contains(line));
}

class Lost : public testing::TestWithParam<std::string> {};

TEST_P(Lost, is_told_on_one_rank_and_no_rank_hangs) {
  for (int ranks : {2, 4}) expect_end(play(GetParam(), ranks, 1), 2, "rank [0-3].* same order");
}

INSTANTIATE_TEST_SUITE_P(Ranks, Lost,
                         testing::Values("commit_against_agree", "agree_against_commit", "commit_against_restore",
                                         "restore_against_agree", "finish_against_agree", "finish_against_commit",
                                         "finish_against_restore"),
                         [](const auto& scenario) { return scenario.param; });

}  // namespace
