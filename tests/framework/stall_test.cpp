// Jobs whose ranks wait for others that do not come. The ranks that wait and those that have not come are reported, and
// the job ends if that is allowed.

#include "base/clock.hpp"
#include "tests/support/subject_job.hpp"

#include <algorithm>
#include <ostream>

namespace {

using testing::ContainsRegex;
using testing::IsEmpty;

struct Case {
  std::string scenario;
  int spares;
  std::string told;  ///< a regular expression
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.scenario; }

support::JobEnd play_to_the_limit(const std::string& scenario, int spares) {
  return play(scenario, 3, spares, {"--mend-stall", "0.5", "--mend-stall-limit", "1"});
}

long lines_with(const support::JobEnd& end, const std::string& text) {
  return std::ranges::count_if(support::lines_of(end.errors),
                               [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

class Stalls : public testing::TestWithParam<Case> {};

TEST_P(Stalls, are_told_and_end_the_job) {
  const auto& [scenario, spares, told] = GetParam();
  const auto end = play_to_the_limit(scenario, spares);
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.errors, ContainsRegex("mend\\[[0-9]+\\] [0-9:.]+: " + told));
  EXPECT_THAT(end.errors,
              ContainsRegex("the job ends because ranks wait for longer than 1 s \\(--mend-stall-limit\\): " + told));
  EXPECT_EQ(lines_with(end, "the job ends because"), 1) << end.errors;
  EXPECT_EQ(lines_with(end, "no stack: "), 0) << end.errors;
  EXPECT_THAT(said(end), IsEmpty());
}

TEST(AStall, that_ends_the_job_shows_where_each_rank_is_and_takes_no_time_for_it) {
  const mend::Stopwatch watch;
  const auto end = play_to_the_limit("one_is_late_for_commit", 0);
  EXPECT_LT(watch.elapsed().count(), 7) << "with the start of the job, and the stall itself";
  EXPECT_EQ(end.exit_code, 1);
  for (const char* who : {"rank 0 (process 0 on ", "rank 1 (process 1 on ", "rank 2 (process 2 on "})
    EXPECT_EQ(lines_with(end, who), 1) << end.errors;
  EXPECT_EQ(lines_with(end, " main+0x"), 3) << end.errors;
  EXPECT_EQ(lines_with(end, "mend::StoreEngine::commit()"), 2) << end.errors;
}

/// The part of the sentence for how long a rank has waited: a regular expression.
const std::string for_seconds = " for [0-9.]+ s";

INSTANTIATE_TEST_SUITE_P(
    Of, Stalls,
    testing::Values(
        Case{"one_is_late_for_commit", 0,
             "ranks 0, 1 have waited in commit\\(\\)" + for_seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_restore", 0,
             "ranks 1, 2 have waited in restore\\(\\)" + for_seconds + "; rank 0 has not come"},
        Case{"one_is_late_for_agree", 0,
             "ranks 0, 1 have waited in agree\\(\\)" + for_seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_dup", 0, "ranks 0, 1 have waited in dup\\(\\)" + for_seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_split", 0,
             "ranks 0, 1 have waited in split\\(\\)" + for_seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_the_end", 0,
             "ranks 0, 1 have waited at the end of the body" + for_seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_repair", 1, "rank 2 has waited in a recovery" + for_seconds + "; rank 0 has not come"},
        Case{"one_catches_everything_for_ever", 1,
             "rank 2 has waited in a recovery" + for_seconds +
                 "; rank 0 has not come: ProcessFailure must leave the body"},
        Case{"all_catch_everything_for_ever", 1,
             "ranks 0, 2 have known for [0-9.]+ s that process 1 is dead, and have not come to the recovery: "
             "ProcessFailure must leave the body"},
        Case{"all_commit_and_catch_everything_for_ever", 1,  // one may wait for the other in a ballot
             "ranks? [0-2, ]+ ha(s|ve) known for [0-9.]+ s that process 1 is dead, and ha(s|ve) not come to the "
             "recovery: "
             "ProcessFailure must leave the body"},
        Case{"one_waits_for_a_message", 0,
             "ranks 0, 1 have waited in agree\\(\\)" + for_seconds + "; rank 2 has not come"},
        Case{"split_against_commit", 0,
             "ranks 1, 2 have been in commit\\(\\)" + for_seconds + ", rank 0 has been in split\\(\\)" + for_seconds +
                 ": every rank must come to these in the same order"}),
    [](const auto& one) { return one.param.scenario; });

TEST(AStall, of_all_in_MPI_calls_of_the_program_is_told_and_ends_the_job_at_the_limit) {
  const std::string told = "mend has seen no progress in any rank for [0-9.]+ s: ranks 0-2 are in MPI_Recv";
  const auto end = play("all_wait_for_messages", 3, 1, {"--mend-stall", "0.2", "--mend-stall-limit", "2"});
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.errors, ContainsRegex("mend\\[[0-9]+\\] [0-9:.]+: " + told));
  EXPECT_THAT(end.errors,
              ContainsRegex("the job ends because ranks wait for longer than 2 s \\(--mend-stall-limit\\): " + told));
  EXPECT_GE(lines_with(end, "MPI_Recv+0x"), 3) << end.errors;
}

TEST(AStall, of_ranks_that_wait_in_MPI_for_one_that_computes_is_told_and_does_not_end_the_job) {
  const auto end = play("one_computes_for_long", 3, 0, {"--mend-stall", "0.2", "--mend-stall-limit", "0.5"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end).size(), 3U);
  EXPECT_GE(lines_with(end, "ranks 0, 2 are in MPI_Bcast, rank 1 computes"), 1)
      << end.errors;  // again after twice the time
}

TEST(AStall, is_none_while_ranks_move_in_MPI_without_mend) {
  const auto end = play("all_work_without_mend", 3, 0, {"--mend-stall", "0.2", "--mend-stall-limit", "0.5"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, IsEmpty());
}

TEST(AStall, that_ends_by_itself_is_told_and_costs_nothing) {
  const auto end = play("one_is_late_for_a_while", 3, 0, {"--mend-stall", "0.5"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(said(end).size(), 3U);
  EXPECT_THAT(support::complaints(end),
              testing::Contains(ContainsRegex("ranks 0, 2 have waited in agree.. for .*; rank 1 has "
                                              "not come")));
}

TEST(AStall, is_none_while_ranks_compute_and_have_not_met_the_failure) {
  const auto end = play("all_compute_while_one_is_dead", 3, 1, {"--mend-stall", "0.5", "--mend-stall-limit", "1"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end).size(), 3U);
  EXPECT_EQ(lines_with(end, "have known for"), 0) << end.errors;
}

TEST(AStall, is_not_told_without_the_ring_which_is_said_at_the_start) {
  const auto end = play("one_is_late_for_a_while", 3, 0, {"--mend-stall", "0.5", "--mend-detector", "runtime"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(lines_with(end, "with --mend-detector runtime, ranks that wait for each other are not found"), 1)
      << end.errors;
  EXPECT_THAT(play("one_is_late_for_a_while", 3, 0,
                   {"--mend-stall", "0", "--mend-stall-limit", "0", "--mend-detector", "runtime"})
                  .errors,
              IsEmpty());
}

TEST(AStall, that_is_not_to_be_told_is_not) {
  const auto end = play("one_is_late_for_a_while", 3, 0, {"--mend-stall", "0"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.errors, IsEmpty());
}

}  // namespace
