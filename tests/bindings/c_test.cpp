// The C API, tested with a program in C whose rank 1 dies.

#include "tests/support/subject_job.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

support::JobEnd play_in_c(const std::string& scenario, int spares, const std::vector<std::string>& options = {}) {
  return play(scenario, 4, spares, options, MEND_C_SUBJECT);
}

TEST(InC, the_body_is_entered_again) {
  const auto end = play_in_c("again", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("total 240 after 10 steps in epoch 1, 0 repairs, agreed, taken back")));
}

TEST(InC, help_is_printed_once) { expect_help(play_in_c("again", 0, {"--mend-help"})); }

TEST(InC, the_body_goes_on_in_place) {
  const auto end = play_in_c("in_place", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), Each(HasSubstr("total 240 after 10 steps in epoch 1")));
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("1 repairs"), HasSubstr("0 repairs"), HasSubstr("1 repairs"),
                                     HasSubstr("1 repairs")));
}

TEST(InC, commits_need_not_be_waited_for_and_the_answer_is_reported) {
  const support::ScratchFolder folder;
  const auto result = folder.path() / "result.json";
  const auto end = play_in_c("async", 1, {"--mend-result=" + result.string()});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("total 240 after 10 steps in epoch 1, from version 4 to 10")));
  std::ifstream in(result);
  const auto document = nlohmann::json::parse(in);
  EXPECT_EQ(document.at("reported"), (nlohmann::json{{"language", "C"}, {"steps", 10}}));
  EXPECT_THAT(document.at("hash").get<std::string>(), testing::SizeIs(16));
  EXPECT_THAT(document.at("recoveries"), testing::SizeIs(1));
}

const std::vector<std::string> locally{"--mend-rollback=local", "--mend-commit-every=4"};

TEST(InC, one_rank_alone_goes_back) {
  const auto end = play_in_c("async", 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("only rank 1 goes back to version 1"));
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("total 240 after 10 steps in epoch 1, from version ")));
}

TEST(InC, a_cluster_goes_back) {
  std::vector<std::string> in_clusters = locally;
  in_clusters.emplace_back("--mend-clusters=2");
  const auto end = play_in_c("async", 1, in_clusters);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("only ranks 0, 1 go back to version 1"));
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("total 240 after 10 steps in epoch 1, from version ")));
}

TEST(InC, the_code_of_mpi_for_a_death_is_one_to_return) {
  for (const char* body : {"returns_a_code", "returns_code_of_wait"}) {
    const auto end = play_in_c(body, 1);
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(said(end), ElementsAre("rank 0: done", "rank 1: done", "rank 2: done", "rank 3: done"));
  }
}

TEST(InC, another_code_of_mpi_is_told_by_its_rank) {
  expect_end(play_in_c("returns_an_error", 0), 1,
             "rank 1: the body, or a callback, returned MPI's code [0-9]+: .*rank");
}

TEST(InC, a_code_of_mpi_that_is_one_of_mend_too_is_of_mpi) {
  expect_end(play_in_c("negative", 0), 1, "rank 1: an MPI call failed: MPI_ERR_COUNT");
}

TEST(InC, the_error_that_was_met_last_is_told) {
  expect_end(play_in_c("older_error", 0), 1, "rank 1: an MPI call failed: MPI_ERR_RANK");
}

TEST(InC, errors_in_transactions_and_callbacks_are_not_passed_over) {
  expect_end(play_in_c("careless_work", 0), 2, "member 'value' could not be protected");
  expect_end(play_in_c("careless_callback", 1), 1, "MPI_ERR_RANK.*; the program went on without a look at that");
}

TEST(InC, null_where_something_is_needed_is_told) {
  for (const auto& [which, what] : {std::pair{"due", "due of mend_commit_due"},
                                    {"agree", "flag of mend_agree"},
                                    {"split", "made of mend_comm_split"},
                                    {"derive", "factory of mend_comm_derive"},
                                    {"callback", "callback of mend_on_repair"},
                                    {"statistics", "statistics of mend_statistics"},
                                    {"transaction", "work of mend_transaction"}})
    expect_end(play("null", 2, 0, {which}, MEND_C_SUBJECT), 2, std::string(what) + " is NULL");
}

TEST(InC, what_local_rollback_does_not_cover_ends_the_job_in_one_sentence) {
  expect_end(play_in_c("partitioned", 0, locally), 2, "MPI_Psend_init on session.comm.. is not covered");
}

TEST(InC, all_go_back_when_a_rank_does_not_send_the_same_again) {
  const auto end = play_in_c("unlike", 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("the program is not send-deterministic"));
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(EndsWith("alike in epoch 3")));
}

TEST(InC, older_versions_and_those_of_others_can_be_restored_after_a_death) {
  const auto end = play_in_c("older", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith("10 of version 1, beside 11 of version 1"),
                                     EndsWith("11 of version 1, beside 12 of version 1"),
                                     EndsWith("12 of version 1, beside 13 of version 1"),
                                     EndsWith("13 of version 1, beside 10 of version 1")));
}

TEST(InC, some_elements_are_protected_without_the_others) {
  const auto end = play_in_c("subset", 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith(": 0 1 -1 -1 4 5 of version 1 in process 0"),
                                     EndsWith(": 10 11 -1 -1 14 15 of version 1 in process 1"),
                                     EndsWith(": 20 21 -1 -1 24 25 of version 1 in process 2"),
                                     EndsWith(": 30 31 -1 -1 34 35 of version 1 in process 3")));
}

TEST(InC, a_restart_file_in_memory_brings_everything_back) {
  const auto end = play_in_c("file", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(EndsWith("total 450 after 10 steps, of which 6 are new"),
                                     EndsWith("total 460 after 10 steps, of which 6 are new"),
                                     EndsWith("total 470 after 10 steps, of which 6 are new"),
                                     EndsWith("total 480 after 10 steps, of which 6 are new")));
}

TEST(InC, buffers_that_take_turns_are_restored_into_the_one_that_is_protected) {
  const support::ScratchFolder folder;
  const auto result = folder.path() / "result.json";
  const auto end = play_in_c("double_buffer", 1, {"--mend-result=" + result.string()});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre(EndsWith(": 10 10 10 and 20 after 10 steps"), EndsWith(": 11 11 11 and 20 after 10 steps"),
                          EndsWith(": 12 12 12 and 20 after 10 steps"), EndsWith(": 13 13 13 and 20 after 10 steps")));
  std::ifstream in(result);
  EXPECT_EQ(nlohmann::json::parse(in).at("reported"), (nlohmann::json{{"steps", 10}}));
}

TEST(InC, a_program_that_cannot_start_is_refused_in_one_sentence) {
  const auto end = play_in_c("refused", 1);
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, HasSubstr("there is no input\n"));
}

TEST(InC, parts_of_arrays_are_given_to_the_ranks_that_are_left) {
  const auto end = play_in_c("parts", 0, {"--mend-on-failure=shrink"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              ElementsAre(HasSubstr("columns 0 to 4"), HasSubstr("columns 4 to 8"), HasSubstr("columns 8 to 12")));
  EXPECT_THAT(said(end), Each(EndsWith("after 6 steps, from version 3, 0 wrong")));
}

TEST(InC, ranks_that_are_left_know_where_they_are) {
  const auto closed_up = play_in_c("numbers", 0, {"--mend-on-failure=shrink"});
  EXPECT_EQ(closed_up.exit_code, 0) << closed_up.errors;
  EXPECT_THAT(said(closed_up),
              ElementsAre("rank 0: 0 in comm, was 0, no rank 1, between 2 and 1, half are 2, after 0",
                          "rank 1: 1 in comm, was 2, no rank 1, between 0 and 2, half are 1, after 0",
                          "rank 2: 2 in comm, was 3, no rank 1, between 1 and 0, half are 2, after 0"));
  const auto numbered = play_in_c("numbers", 0, {"--mend-on-failure=blank"});
  EXPECT_EQ(numbered.exit_code, 0) << numbered.errors;
  EXPECT_THAT(said(numbered), ElementsAre("rank 0: 0 in comm, was 0, no rank 1, between 2 and 1, half are 2, after 0",
                                          "rank 1: 1 in comm, was 2, no rank 1, between 0 and 2, half are 1, after 0",
                                          "rank 2: 2 in comm, was 3, no rank 1, between 1 and 0, half are 2, after 0"));
  const auto taken_over = play_in_c("numbers", 1);
  EXPECT_THAT(said(taken_over),
              testing::Contains("rank 1: 1 in comm, was 1, a rank 1, between 0 and 2, half are 2, after 1"));
}

TEST(InC, without_spares_the_job_ends_in_one_sentence) {
  for (const char* style : {"again", "in_place"}) {
    expect_end(play_in_c(style, 0), 3, "rank 1 .process 1. died and no spare is left");
  }
}

TEST(InC, an_mpi_error_that_nobody_looks_at_ends_the_job) {
  for (const char* look : {"ends", "commits", "gives_up"})
    expect_end(play_in_c("lost_message", 0, {look}), 1, "rank 1: an MPI call failed: MPI_ERR_RANK");
}

TEST(InC, an_mpi_error_that_the_program_deals_with_is_its_own_concern) {
  for (const char* look : {"looks_at_class", "wants_codes"}) {
    const auto end = play_in_c("lost_message", 0, {look});
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(support::complaints(end), testing::IsEmpty());
  }
}

TEST(InC, mistakes_end_the_job_with_their_sentence) {
  expect_end(play_in_c("wrong", 0), 2, "a protected member needs a name");
  expect_end(play_in_c("wrong_work", 0), 2, "a protected member needs a name");
  expect_end(play_in_c("nameless", 0), 2, "the name of a protected member is NULL");
  expect_end(play_in_c("ends", 0), 1,
             "rank 1: the body, or a callback, returned MEND_END, which no function of mend had returned");
  expect_end(play_in_c("no_axes", 0), 2,
             "a Cartesian topology needs dimensions, and for each of them whether it is periodic");
  expect_end(play_in_c("unmade", 0), 1, "making a communicator failed: MPI_ERR_TOPOLOGY");
  expect_end(play_in_c("wrong_parts", 0), 2, "the whole, the offset or the extents of a protected part are NULL");
  expect_end(play_in_c("older_than_kept", 0), 2, "version 7");
  expect_end(play_in_c("careless", 0), 2,
             "member 'total' could not be protected: 'double' is not an element of an array");
  expect_end(play_in_c("bodiless", 0), 2, "mend_run was given no body");
  expect_end(play_in_c("unknown", 0), 2, "'mirror' is not a redundancy: give partner, replicas:K");
}

}  // namespace
