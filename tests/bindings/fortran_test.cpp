// The Fortran module, tested with a program in Fortran whose rank 1 dies.

#include "tests/support/subject_job.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

support::JobEnd play_in_fortran(const std::string& scenario, int spares, const std::vector<std::string>& options = {}) {
  return play(scenario, 4, spares, options, MEND_FORTRAN_SUBJECT);
}

TEST(InFortran, the_body_is_entered_again) {
  const auto end = play_in_fortran("again", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("totals 240.0 480.0 720.0 after 10 steps in epoch 1, 0 repairs, agreed")));
  EXPECT_THAT(said(end), Each(HasSubstr("taken back")));
}

TEST(InFortran, help_is_printed_once) { expect_help(play_in_fortran("again", 0, {"--mend-help"})); }

TEST(InFortran, the_body_goes_on_in_place) {
  const auto end = play_in_fortran("in_place", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), Each(HasSubstr("totals 240.0 480.0 720.0 after 10 steps in epoch 1")));
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("1 repairs"), HasSubstr("0 repairs"), HasSubstr("1 repairs"),
                                     HasSubstr("1 repairs")));
}

TEST(InFortran, commits_need_not_be_waited_for_and_the_answer_is_reported) {
  const support::ScratchFolder folder;
  const auto result = folder.path() / "result.json";
  const auto end = play_in_fortran("async", 1, {"--mend-result=" + result.string()});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("total 240.0 after 10 steps in epoch 1, from version 4 to 10")));
  std::ifstream in(result);
  const auto document = nlohmann::json::parse(in);
  EXPECT_EQ(document.at("reported"), (nlohmann::json{{"language", "Fortran"}, {"steps", 10}}));
  EXPECT_THAT(document.at("hash").get<std::string>(), testing::SizeIs(16));
  EXPECT_THAT(document.at("recoveries"), testing::SizeIs(1));
}

TEST(InFortran, one_rank_alone_goes_back) {
  const auto end = play_in_fortran("async", 1, {"--mend-rollback=local", "--mend-commit-every=4"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("only rank 1 goes back to version 1"));
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("total 240.0 after 10 steps in epoch 1, from version ")));
}

TEST(InFortran, a_cluster_goes_back) {
  const auto end = play_in_fortran("async", 1, {"--mend-rollback=local", "--mend-commit-every=4", "--mend-clusters=2"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("only ranks 0, 1 go back to version 1"));
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("total 240.0 after 10 steps in epoch 1, from version ")));
}

TEST(InFortran, older_versions_and_those_of_others_can_be_restored_after_a_death) {
  const auto end = play_in_fortran("older", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith("10.0 of version 1, beside 11.0 of version 1"),
                                     EndsWith("11.0 of version 1, beside 12.0 of version 1"),
                                     EndsWith("12.0 of version 1, beside 13.0 of version 1"),
                                     EndsWith("13.0 of version 1, beside 10.0 of version 1")));
}

TEST(InFortran, some_elements_are_protected_without_the_others) {
  const auto end = play_in_fortran("subset", 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: 1 2 -1 -1 5 6 of version 1 in process 0, sum 6",
                                     "rank 1: 11 12 -1 -1 15 16 of version 1 in process 1, sum 6",
                                     "rank 2: 21 22 -1 -1 25 26 of version 1 in process 2, sum 6",
                                     "rank 3: 31 32 -1 -1 35 36 of version 1 in process 3, sum 6"));
}

TEST(InFortran, buffers_that_take_turns_are_restored_into_the_one_that_is_protected) {
  const auto end = play_in_fortran("double_buffer", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre("rank 0: 10 10 10 and 20 after 10 steps", "rank 1: 11 11 11 and 20 after 10 steps",
                          "rank 2: 12 12 12 and 20 after 10 steps", "rank 3: 13 13 13 and 20 after 10 steps"));
}

TEST(InFortran, restart_files_in_memory_bring_everything_back) {
  const auto end = play_in_fortran("file", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: values 450.0 900.0 1350.0 after 10 steps, of which 6 are new",
                                     "rank 1: values 460.0 920.0 1380.0 after 10 steps, of which 6 are new",
                                     "rank 2: values 470.0 940.0 1410.0 after 10 steps, of which 6 are new",
                                     "rank 3: values 480.0 960.0 1440.0 after 10 steps, of which 6 are new"));
}

TEST(InFortran, a_program_leaves_when_it_is_asked_to) {
  const support::ScratchFolder folder;
  const auto end = play_in_fortran("leaves", 0, {"--mend-disk=" + folder.path().string()});
  EXPECT_EQ(end.exit_code, 4) << end.errors;
  EXPECT_THAT(said(end), AllOf(testing::SizeIs(4), Each(HasSubstr("left"))));
  EXPECT_THAT(end.errors, HasSubstr("the job has left in time (a process was sent SIGTERM); version "));
}

TEST(InFortran, a_program_that_cannot_start_is_refused_in_one_sentence) {
  const auto end = play_in_fortran("refused", 1);
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, HasSubstr("there is no input\n"));
}

TEST(InFortran, parts_of_arrays_are_given_to_the_ranks_that_are_left_with_the_first_index_fastest) {
  const auto end = play_in_fortran("parts", 0, {"--mend-on-failure=shrink"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("rows 1 to 4"), HasSubstr("rows 5 to 8"), HasSubstr("rows 9 to 12")));
  EXPECT_THAT(said(end), Each(EndsWith("after 6 steps, from version 3, 0 wrong")));
}

TEST(InFortran, ranks_that_are_left_know_where_they_are) {
  const auto end = play_in_fortran("numbers", 0, {"--mend-on-failure=blank"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: 0 in comm, was 0, no rank 1, sums 3 and 1, after 0",
                                     "rank 1: 1 in comm, was 2, no rank 1, sums 3 and 1, after 0",
                                     "rank 2: 2 in comm, was 3, no rank 1, sums 3 and 0, after 0"));
}

#ifdef MEND_FORTRAN_MPI_SUBJECT
TEST(InFortran, nobody_stays_blocked_in_a_communicator_made_by_mpi_in_fortran) {
  for (const std::string module : {"mpi", "mpi_f08"}) {
    for (const char* const world : {"--mend-world=launch", "--mend-world=session"}) {
      const auto end = play(module, 4, 1, {world}, MEND_FORTRAN_MPI_SUBJECT);
      EXPECT_EQ(end.exit_code, 0) << end.errors;
      EXPECT_THAT(said(end), ElementsAre("rank 0: heard 1 in epoch 1", "rank 1: heard -1 in epoch 1",
                                         "rank 2: heard 3 in epoch 1", "rank 3: heard -1 in epoch 1"))
          << module << " " << world;
    }
  }
}

TEST(InFortran, calls_that_do_not_block_are_begun_again) {
  for (const char* const world : {"--mend-world=launch", "--mend-world=session"}) {
    const auto end = play("begun", 4, 1, {"--mend-rollback=local", world}, MEND_FORTRAN_MPI_SUBJECT);
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(end.errors, HasSubstr("only rank 1 goes back to the beginning"));
    EXPECT_THAT(said(end),
                ElementsAre("rank 0: total 159", "rank 1: total 141", "rank 2: total 147", "rank 3: total 153"))
        << world;
  }
}

TEST(InFortran, what_local_rollback_does_not_cover_ends_the_job_in_one_sentence) {
  expect_end(play("window", 2, 0, {"--mend-rollback=local"}, MEND_FORTRAN_MPI_SUBJECT), 2,
             "MPI_Win_create on session.comm.. is not covered");
  expect_end(play("arrays", 2, 0, {"--mend-rollback=local"}, MEND_FORTRAN_MPI_SUBJECT), 2,
             "MPI_Iallgatherv in Fortran on session.comm.. is not covered");
  EXPECT_EQ(play("arrays", 2, 0, {}, MEND_FORTRAN_MPI_SUBJECT).exit_code, 0);
  expect_end(play("shrink", 2, 0, {"--mend-rollback=local"}, MEND_FORTRAN_MPI_SUBJECT), 2,
             "MPIX_Comm_shrink on session.comm.. is not covered");
}

TEST(InFortran, the_world_is_the_sessions_in_calls_that_look_into_it) {
  const auto end = play("world", 4, 0, {"--mend-world=session", "--mend-on-failure=spawn"}, MEND_FORTRAN_MPI_SUBJECT);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: TTTFF", "rank 1: TTTFF", "rank 2: TTTFF", "rank 3: TTTFF"));
}

TEST(InFortran, calls_of_mpi_that_would_break_the_job_end_it_in_one_sentence) {
  for (const std::string rollback : {"--mend-rollback=all", "--mend-rollback=local"}) {
    expect_end(play("finalize", 2, 0, {rollback}, MEND_FORTRAN_MPI_SUBJECT), 2,
               "MPI_Finalize was called in the body: mend::run calls it when the body has returned");
    expect_end(play("free", 2, 0, {rollback}, MEND_FORTRAN_MPI_SUBJECT), 2,
               "MPI_Comm_free was called for session.comm.., which mend frees: leave it alone");
    expect_end(play("disconnect", 2, 0, {rollback}, MEND_FORTRAN_MPI_SUBJECT), 2,
               "MPI_Comm_(disconnect|free) was called for session.comm.., which mend frees: leave it alone");
  }
}
#endif

TEST(InFortran, mistakes_end_the_job_with_their_sentence) {
  expect_end(play_in_fortran("wrong", 0), 2, "a protected member needs a name");
  expect_end(play_in_fortran("no_axes", 0), 2,
             "a Cartesian topology needs dimensions, and for each of them whether it is periodic");
  expect_end(play_in_fortran("wrong_parts", 0), 2, "all three need as many numbers");
}

}  // namespace
