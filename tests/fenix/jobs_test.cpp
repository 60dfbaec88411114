// Programs for Fenix, as they are, on mend: with real deaths at every place where they differ.

#include "tests/fenix/fenix_job.hpp"

#include <fmt/format.h>

namespace {

using support::JobEnd;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// The same for a program in which processes die (die.h): `deaths` is the value of --die, or empty if nobody dies.
JobEnd play_with_deaths(const char* program, int spares, const std::string& deaths,
                        std::vector<std::string> arguments = {}) {
  if (!deaths.empty()) arguments.push_back("--die=" + deaths);
  return play_fenix(program, spares, arguments);
}

/// What is said on standard error, but for the summary of a job's recoveries.
std::vector<std::string> own_complaints(const JobEnd& end) {
  std::vector<std::string> lines = support::complaints(end);
  std::erase_if(lines,
                [](const std::string& line) { return line.find(" until the data was back") != std::string::npos; });
  return lines;
}

// --- back to Fenix_Init ------------------------------------------------------------------------------------------

/// What each rank of the jumping program has to say, whoever died: every step adds the sum of step + rank.
std::string right(int rank) {
  constexpr long steps = 20;
  constexpr long cells = 5000;
  const long total = ranks * steps * (steps - 1) / 2 + steps * ranks * (ranks - 1) / 2;
  const long field = cells * rank * cells + cells * (cells - 1) / 2 + cells * total;
  return fmt::format("rank {}: total {}, field {}, role ", rank, total, field);
}

void expect_right(const JobEnd& end) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  const std::vector<std::string> lines = said(end);
  EXPECT_THAT(lines, ElementsAre(HasSubstr(right(0)), HasSubstr(right(1)), HasSubstr(right(2)), HasSubstr(right(3))));
  EXPECT_THAT(lines, Each(EndsWith("error 0")));
  EXPECT_THAT(own_complaints(end), testing::IsEmpty());
}

JobEnd jump(const std::string& deaths, int spares = 2) {
  return play_with_deaths(MEND_FENIX_JUMP, spares, deaths, {std::to_string(spares)});
}

TEST(FenixJump, without_a_failure_nobody_recovers) {
  const auto end = jump("");
  expect_right(end);
  EXPECT_THAT(said(end), Each(HasSubstr("role 0, 0 callbacks")));
}

TEST(FenixJump, without_spares_and_failures_all_ranks_play) { expect_right(jump("", 0)); }

TEST(FenixJump, survivors_return_to_init_and_a_spare_takes_over) {
  const auto end = jump("computing:7:1:2");
  expect_right(end);
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("role 2, 1 callbacks"), HasSubstr("role 1, 0 callbacks"),
                                     HasSubstr("role 2, 1 callbacks"), HasSubstr("role 2, 1 callbacks")));
}

/// A rank dies at each place of the program, for the first time or after another one.
class FenixJumpAt : public testing::TestWithParam<const char*> {};

TEST_P(FenixJumpAt, the_result_is_the_same) { expect_right(jump(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Deaths, FenixJumpAt,
                         testing::Values("entered:0:2:2", "created:0:1:2", "storing:0:3:2",
                                         "stored:0:0:2",  // before any commit
                                         "computing:0:0:2", "storing:5:2:2", "stored:5:1:2", "committed:9:3:2",
                                         "finishing:20:0:2", "finishing:20:3:2",
                                         // two at once
                                         "computing:7:0:2,computing:7:2:2", "committed:4:1:2,storing:5:3:2",
                                         // the one that has just taken over, at several moments
                                         "computing:7:1:2,entered:0:1:1", "computing:7:1:2,created:0:1:1",
                                         "stored:3:0:2,restoring:0:0:1", "computing:7:1:2,computing:7:1:1",
                                         "finishing:20:2:2,finishing:20:2:1",
                                         // a survivor, where it has jumped to
                                         "computing:7:1:2,entered:7:3:1", "stored:8:3:2,restoring:8:2:1",
                                         "computing:7:1:2,finishing:20:0:1"));

/// A rank dies together with its holder, or before that has its copy again.
class FenixJumpWithLoss : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(FenixJumpWithLoss, the_program_may_begin_anew) {
  const auto [deaths, loss] = GetParam();
  const auto end = jump(deaths);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre(HasSubstr(right(0)), HasSubstr(right(1)), HasSubstr(right(2)), HasSubstr(right(3))));
  EXPECT_THAT(own_complaints(end), ElementsAre(HasSubstr(loss)));
}

INSTANTIATE_TEST_SUITE_P(
    Deaths, FenixJumpWithLoss,
    testing::Values(std::pair("computing:7:0:2,computing:7:3:2", "the data of rank 3 at version 8 is lost"),
                    std::pair("computing:7:1:2,entered:7:0:1", "the data of rank 0 at version 8 is lost")));

TEST(FenixJump, plain_mpirun_does_as_mend_run_does) {
  support::Job job;
  job.command = {MEND_MPIRUN, "--oversubscribe", "--with-ft", "ulfm", "-np", "6"};
  job.command.insert(job.command.end(), {MEND_FENIX_JUMP, "2", "--die=computing:7:1:2"});
  job.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  expect_right(support::run_job(job));
}

TEST(FenixJump, tells_how_long_it_took_to_restore) {
  const auto end = play_with_deaths(MEND_FENIX_JUMP, 1, "computing:7:1:1", {"1", "--mend-log=info"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors,
              AllOf(HasSubstr("epoch 1: rank 1: process 1 died"), testing::ContainsRegex("restore [0-9.]+ ms")));
  EXPECT_THAT(end.errors, testing::Not(HasSubstr("restore 0.00 ms")));
}

/// What the jumping program says of a field that was filled as that of rank `was`.
std::string left(int rank, long was, long total) {
  constexpr long cells = 5000;
  const long field = cells * was * cells + cells * (cells - 1) / 2 + cells * total;
  return fmt::format("rank {}: total {}, field {}, role ", rank, total, field);
}

TEST(FenixJump, without_a_spare_left_the_others_close_up) {
  const auto end = jump("committed:7:1:0", 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  constexpr long total = 4 * 21 + 7 * 6 + 3 * 169 + 13 * 3;  // 7 steps of 4 ranks, then 13 of 3
  EXPECT_THAT(said(end),
              ElementsAre(HasSubstr(left(0, 0, total)), HasSubstr(left(1, 2, total)), HasSubstr(left(2, 3, total))));
  EXPECT_THAT(said(end), Each(EndsWith("role 2, 1 callbacks, error 100")));
}

TEST(FenixJump, with_too_few_spares_left_all_ranks_begin_anew) {
  const auto end = jump("committed:7:0:1,committed:7:2:1", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  constexpr long total = 3 * 190 + 20 * 3;
  EXPECT_THAT(said(end),
              ElementsAre(HasSubstr(left(0, 0, total)), HasSubstr(left(1, 1, total)), HasSubstr(left(2, 2, total))));
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("role 1"), HasSubstr("role 2"), HasSubstr("role 2")));
  EXPECT_THAT(own_complaints(end), ElementsAre(HasSubstr("some ranks were given up and others taken over at once")));
}

TEST(FenixJump, without_a_spare_left_the_job_ends_in_one_sentence_where_the_user_wants_that) {
  const auto end = play_with_deaths(MEND_FENIX_JUMP, 0, "computing:7:1:0", {"0", "--mend-on-failure=spare"});
  expect_end(end, 3, "rank 1 .process 1. died and no spare is left");
}

// --- where they are ----------------------------------------------------------------------------------------------

void expect_total(const JobEnd& end) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(ranks));
  EXPECT_THAT(said(end), Each(AllOf(HasSubstr("total 880, role "), EndsWith("error 0"))));
  EXPECT_THAT(own_complaints(end), testing::IsEmpty());
}

class FenixInPlace : public testing::TestWithParam<const char*> {};

TEST_P(FenixInPlace, with_errors_returned) { expect_total(play_with_deaths(MEND_FENIX_RETURN, 2, GetParam(), {"2"})); }
TEST_P(FenixInPlace, with_exceptions) { expect_total(play_with_deaths(MEND_FENIX_THROW, 2, GetParam(), {"2"})); }

INSTANTIATE_TEST_SUITE_P(Deaths, FenixInPlace,
                         testing::Values("", "computing:7:1:2", "stored:5:0:2", "finishing:20:2:2",
                                         "computing:3:0:2,computing:3:2:2", "computing:7:1:2,restoring:0:1:1",
                                         "stored:8:3:2,restoring:8:2:1", "computing:7:1:2,computing:9:1:1",
                                         "finishing:20:0:2,computing:19:0:1"));

TEST(FenixInPlace, callbacks_are_called_on_survivors) {
  for (const char* program : {MEND_FENIX_RETURN, MEND_FENIX_THROW}) {
    const auto end = play_with_deaths(program, 1, "computing:7:1:1", {"1"});
    expect_total(end);
    EXPECT_THAT(said(end), ElementsAre(HasSubstr("role 2, 1 callbacks"), HasSubstr("role 1, 0 callbacks"),
                                       HasSubstr("role 2, 1 callbacks"), HasSubstr("role 2, 1 callbacks")));
  }
}

// --- derived communicators -----------------------------------------------------------------------------------------

class FenixDerived : public testing::TestWithParam<const char*> {};

TEST_P(FenixDerived, nobody_stays_blocked_in_another_communicator) {
  expect_total(play_with_deaths(MEND_FENIX_DERIVED, 2, GetParam(), {"2"}));
}

INSTANTIATE_TEST_SUITE_P(Deaths, FenixDerived,
                         testing::Values("", "before_sending:7:1:2", "before_row:7:2:2",
                                         "before_row:7:0:2,before_row:7:2:2", "before_grid:3:3:2,before_sending:9:1:1",
                                         "rows_wait:5:0:2", "rows_wait:5:3:2", "across_wait:5:0:2", "merged_wait:5:0:2",
                                         "twin_wait:5:0:2", "twin_comes:0:1:2", "twin_comes:0:3:2"));

/// Ranks use what they had of the epoch before once more, which must not count as a failure of this one.
TEST(FenixOutdated, what_is_left_of_an_epoch_begins_no_recovery) {
  const auto end = play_with_deaths(MEND_FENIX_DERIVED, 2, "before_row:7:2:2", {"2"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr(" 1 recovery: 1 process died, 1 rank was taken over"));
}

// --- data, roles and questions -------------------------------------------------------------------------------------

TEST(FenixData, every_function_does_what_it_says) {
  const auto end = play_with_deaths(MEND_FENIX_DATA, 2, "half:0:2:2");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(ranks));
  EXPECT_THAT(said(end), Each(EndsWith(": 0 checks failed"))) << end.errors;
}

// --- restoring as users do -----------------------------------------------------------------------------------------

/// Rank `dead` of the program dies after its second commit. What the ranks say, after "rank R: role R, ".
std::vector<std::string> restored(const std::string& which, int dead) {
  const auto end = play_with_deaths(MEND_FENIX_RESTORE, 1, fmt::format("committed:0:{}:1", dead), {which, "1"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(own_complaints(end), testing::IsEmpty());
  std::vector<std::string> results;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string start = fmt::format("rank {}: role {}, ", rank, rank == dead ? 1 : 2);
    for (const std::string& line : said(end)) {
      if (line.starts_with(start)) results.push_back(line.substr(start.size()));
    }
  }
  EXPECT_THAT(results, SizeIs(ranks)) << end.output;
  return results;
}

TEST(FenixRestore, gives_the_newest_snapshot_for_a_time_stamp_that_is_none) {
  for (const int dead : {0, 2}) EXPECT_THAT(restored("ring", dead), Each("sum 10")) << dead;
  EXPECT_THAT(restored("unknown", 2), Each("100 cells are right"));
}

TEST(FenixRestore, gives_the_newest_snapshot_for_the_largest_time_stamp) {
  EXPECT_THAT(restored("part", 2), Each("100 cells are right"));
}

TEST(FenixRestore, fills_a_member_that_the_recovered_rank_has_created_before) {
  EXPECT_THAT(restored("created", 1), Each("100 cells are right, result 0"));
}

std::vector<std::string> stored() {
  const auto end = play_with_deaths(MEND_FENIX_RESTORE, 0, "", {"stored", "0"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(ranks));
  return said(end);
}

TEST(FenixRestore, drops_what_was_stored_of_the_member_since_the_last_commit) {
  EXPECT_THAT(stored(), Each(HasSubstr("restored 1, then 1 and 2")));
}

TEST(FenixStore, refuses_elements_of_a_member_with_a_count_of_0) { EXPECT_THAT(stored(), Each(EndsWith(", refused"))); }

// --- mistakes ----------------------------------------------------------------------------------------------------

JobEnd mistake(const std::string& which, int spares = 0) {
  return play_with_deaths(MEND_FENIX_MISTAKES, spares, "", {which, std::to_string(spares)});
}

TEST(FenixMistakes, an_error_that_is_no_failure_ends_the_job) {
  expect_end(mistake("no_such_rank"), 1, "rank 1: an MPI call failed: MPI_ERR_RANK");
}

TEST(FenixMistakes, an_error_that_is_no_failure_may_be_ignored) {
  const auto end = mistake("silent");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(ranks));
  EXPECT_THAT(said(end), Each(HasSubstr("role 0")));
}

TEST(FenixMistakes, a_rank_that_exits_with_an_error_ends_the_job) {
  expect_end(mistake("exits", 1), 1, "rank 2 has exited with 5 before Fenix_Finalize");
}

TEST(FenixMistakes, a_rank_that_exits_without_one_is_replaced) {
  const auto end = mistake("removes_itself", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre(HasSubstr("role 2"), HasSubstr("role 2"), HasSubstr("role 1"), HasSubstr("role 2")));
}

TEST(FenixMistakes, a_part_of_the_processes_is_refused) {
  expect_end(mistake("alone"), 2, "Fenix_Init needs MPI_COMM_WORLD or a duplicate of it");
}

TEST(FenixMistakes, a_part_is_refused_while_the_others_leave_mpi) {
  expect_end(mistake("part"), 2, "Fenix_Init needs MPI_COMM_WORLD or a duplicate of it");
}

TEST(FenixMistakes, an_init_of_not_all_processes_ends_the_job) {
  expect_end(mistake("not_all"), 2,
             "this process has called MPI_Finalize, and others Fenix_Init: every launched process");
}

TEST(FenixMistakes, too_many_spares_are_refused) {
  const auto end = play_with_deaths(MEND_FENIX_MISTAKES, 0, "", {"spares", "4"});
  expect_end(end, 2, "4 spares of 4 processes: nobody is left to work");
}

TEST(FenixMistakes, a_second_init_ends_the_job) {
  expect_end(mistake("twice", 1), 2, "Fenix_Init is called once in a process");
}

TEST(FenixMistakes, a_commit_of_one_rank_alone_ends_the_job) {
  const auto end = mistake("commits_alone");
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("every rank must come to these in the same order"));
  EXPECT_THAT(said(end), testing::IsEmpty());
}

TEST(FenixMistakes, a_program_that_forgets_to_finalize_is_finalized) {
  const auto end = mistake("forgets_finalize", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(ranks));
}

TEST(FenixMistakes, a_rank_that_crashes_after_finalize_fails_the_job) {
  const auto end = mistake("aborts_at_the_end");
  EXPECT_EQ(end.exit_code, 128 + SIGABRT) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("a process was ended by SIGABRT after the job had finished"));
}

TEST(FenixMistakes, other_spares_than_were_launched_are_what_counts) {
  const auto end = play_with_deaths(MEND_FENIX_MISTAKES, 1, "", {"spawn", "2"});  // of 5 processes
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3));
  EXPECT_THAT(own_complaints(end), testing::Contains(HasSubstr("launched with --spares 1, but Fenix_Init asks for 2")));
}

TEST(FenixSpawn, replaces_the_dead_when_no_spare_is_left) {
  const auto end = mistake("spawn_for_the_dead", 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), UnorderedElementsAre("rank 0: role 2", "rank 1: role 2", "rank 2: role 1", "rank 3: role 2"));
}

TEST(FenixSpawn, tells_all_ranks_alike_who_has_failed) {
  const auto end = mistake("spawn_for_two_dead", 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(ranks));
  EXPECT_THAT(said(end), Each(EndsWith(": 1 and 2 have failed, 2 recovered")));
}

}  // namespace
