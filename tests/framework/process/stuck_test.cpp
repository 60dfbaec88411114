// Jobs in which the MPI library forgets a process: it is held dead and replaced, and the job goes on with the right
// result. Without that, these jobs would hang.

#include "tests/support/subject_job.hpp"

namespace {

using testing::ContainsRegex;
using testing::ElementsAreArray;
using testing::HasSubstr;

support::JobEnd play_with_limit(const std::string& call, int spares, std::vector<std::string> options = {}) {
  options.insert(options.end(), {"--mend-stuck-limit", "1.5"});
  return play(call, 4, spares, options, MEND_STUCK);
}

/// Fails the current test unless each of 4 ranks has counted to the end, in whichever epoch.
void expect_totals(const support::JobEnd& end) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), testing::Each(HasSubstr(": total 96 after 6 steps")));
}

TEST(AProcessThatTheLibraryForgets, in_a_recovery_is_replaced) {
  const auto end = play_with_limit("shrink", 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAreArray(counted(4, 6, 1)));
  EXPECT_THAT(end.errors, ContainsRegex("rank 3 \\(process 3\\) is stuck in a recovery: nothing has moved for "
                                        "[0-9]+ s in the MPI library, where all others wait for it"));
  EXPECT_THAT(end.errors, HasSubstr("stuck in the MPI library for"));
}

/// The started process is in the job, and has not come to the job decision of this recovery.
TEST(AProcessThatTheLibraryForgets, in_a_recovery_is_replaced_and_not_the_process_that_was_started_in_it) {
  const auto end = play_with_limit("joined", 0, {"--mend-on-failure", "spawn"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAreArray(counted(4, 6, 1)));
  EXPECT_THAT(end.errors, ContainsRegex("rank 3 \\(process 3\\) is stuck in a recovery: nothing has moved for "));
  EXPECT_THAT(end.errors, testing::Not(HasSubstr("process 4 is stuck")));
}

TEST(AProcessThatTheLibraryForgets, at_the_start_is_replaced) {
  const auto end = play_with_limit("start", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAreArray(counted(4, 6, 0)));
  EXPECT_THAT(end.errors, ContainsRegex("process 3 is stuck in a recovery: nothing has moved for "));
}

TEST(AProcessThatTheLibraryForgets, in_an_agreement_of_the_library_is_replaced) {
  const auto end = play_with_limit("agree", 2, {"--mend-agreement", "mpi"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAreArray(counted(4, 6, 1)));
  EXPECT_THAT(end.errors, ContainsRegex("\\(process 3\\) is stuck "));
}

TEST(AProcessThatTheLibraryForgets, in_the_exchange_of_a_commit_is_replaced) {
  const auto end = play_with_limit("waitall", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAreArray(counted(4, 6, 1)));
  EXPECT_THAT(end.errors, ContainsRegex("rank 3 \\(process 3\\) is stuck in commit\\(\\): nothing has moved for "));
}

TEST(AProcessThatTheLibraryForgets, in_a_collective_call_of_a_restore_is_replaced) {
  const auto end = play_with_limit("allreduce", 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAreArray(counted(4, 6, 2)));
  EXPECT_THAT(end.errors, ContainsRegex("rank 3 \\(process 3\\) is stuck in restore\\(\\): nothing has moved for "));
}

TEST(AProcessThatTheLibraryForgets, in_a_call_of_the_program_is_replaced_and_so_is_a_second_one) {
  const auto end = play_with_limit("barrier", 3, {"--mend-redundancy", "replicas:3"});
  expect_totals(end);
  EXPECT_THAT(end.errors, ContainsRegex("rank 3 \\(process 3\\) is stuck .*: nothing has moved for "));
  EXPECT_THAT(end.errors, ContainsRegex("rank 2 \\(process 2\\) is stuck .*: nothing has moved for "));
}

TEST(AProcessThatTheLibraryForgets, in_a_recovery_of_local_rollback_is_replaced) {
  const auto end = play_with_limit("sendrecv", 2, {"--mend-rollback", "local"});
  expect_totals(end);  // with two ranks that go back, all may have to: then there are more epochs
  EXPECT_THAT(end.errors, ContainsRegex("rank 3 \\(process 3\\) is stuck in a recovery: nothing has moved for "));
}

TEST(AProcessThatTheLibraryForgets, ends_the_job_when_nobody_can_take_over) {
  const auto end = play_with_limit("waitall", 0);
  EXPECT_EQ(end.exit_code, 3) << end.errors;
  EXPECT_THAT(end.errors, ContainsRegex("rank 3.* died and no spare is left"));
}

}  // namespace
