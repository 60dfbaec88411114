// --mend-rollback local: only the process that takes over a rank goes back.

#include "tests/framework/local_rollback/rolled_back_job.hpp"
#include "tests/framework/place_name.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::vector<std::string> locally{"--mend-rollback", "local", "--mend-commit-every", "4"};

support::JobEnd play_locally(const std::string& deaths, int ranks = 4, int spares = 3,
                             std::vector<std::string> options = locally) {
  return play(named + deaths, ranks, spares, options);
}
support::JobEnd play_from_any(const std::string& deaths) { return play(from_any + deaths, 4, 3, locally); }

/// How the ranks may have entered the body.
enum class Entries { once, any };

/// Fails the current test unless all ranks have the results of an undisturbed run; `steps`: how many each has computed,
/// by rank, -1 where any number is right.
void expect_steps(const support::JobEnd& end, const std::vector<int>& steps, const std::string& scenario = named,
                  Entries entries = Entries::once) {
  std::vector<Done> done;
  for (const int count : steps) done.push_back({count, entries == Entries::once ? 1 : -1});
  expect_rolled_back(end, undisturbed_results(scenario, locally), done);
}

TEST(LocalRollback, gives_the_same_result_as_the_global_one_without_a_death) {
  const auto global = play_locally("", 4, 0, {"--mend-commit-every", "4"});
  ASSERT_THAT(said(global), SizeIs(4)) << global.errors;
  EXPECT_EQ(said(global), said(play_locally("", 4, 0)));
}

class WhoeverDies : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(LocalRollback, WhoeverDies, testing::Values(0, 1, 3));

TEST_P(WhoeverDies, is_the_only_one_that_goes_back) {
  std::vector<int> steps(4, 12);
  steps[static_cast<std::size_t>(GetParam())] = 8;  // from the commit at step 4
  const auto end = play_locally(fmt::format("{}@6", GetParam()));
  expect_steps(end, steps);
  // Each of the others has done one or two since, and may be in the next.
  EXPECT_THAT(end.errors, testing::ContainsRegex(
                              fmt::format("only rank {} goes back to version 1: the others keep [3-6] steps that "
                                          "they have computed since; a rank has logged [0-9.]+ MiB at most",
                                          GetParam())));
  // It dies before step 6, of which some others may already have something. Of step 5 they may have nothing yet.
  EXPECT_THAT(end.errors, testing::ContainsRegex(
                              fmt::format("rank {} went back once; (1 step was|2 steps were) computed twice, and "
                                          "[3-6] were kept; a rank has logged [0-9.]+ MiB at most",
                                          GetParam())));
}

TEST(LocalRollback, works_before_the_first_commit) { expect_steps(play_locally("2@3"), {12, 12, 12, 12}); }
TEST(LocalRollback, works_before_restore) { expect_steps(play_locally("2@-1"), {12, 12, 12, 12}); }
TEST(LocalRollback, works_right_after_a_commit) { expect_steps(play_locally("1@8"), {12, 4, 12, 12}); }
TEST(LocalRollback, works_when_two_die_at_once) { expect_steps(play_locally("1&3@6"), {12, 8, 12, 8}); }
TEST(LocalRollback, works_when_one_dies_after_the_other) { expect_steps(play_locally("1@5,2@7"), {12, 8, 8, 12}); }
TEST(LocalRollback, works_when_the_successor_dies_too) { expect_steps(play_locally("1@6,1'@5"), {12, 8, 12, 12}); }
TEST(LocalRollback, works_when_the_successor_dies_in_the_setup) {
  expect_steps(play_locally("1@6,1'@-1"), {12, 8, 12, 12});
}
TEST(LocalRollback, works_with_processes_that_are_started) {
  auto options = locally;
  options.insert(options.end(), {"--mend-on-failure", "spawn"});
  expect_steps(play_locally("1@6", 4, 0, options), {12, 8, 12, 12});
}
TEST(LocalRollback, works_with_a_disk) {
  const support::ScratchFolder disk;
  auto options = locally;
  options.insert(options.end(), {"--mend-disk", disk.path().string() + ",every=1"});
  expect_steps(play_locally("1@6", 4, 1, options), {12, 8, 12, 12});
}

// Commits that begin at the steps 4, 8 and 12, and are published one step later. If a rank dies right after it has
// begun one, the others have begun it too, and it is passed; or none of them has, and all make it when the rank is
// back.

support::JobEnd play_async(const std::string& deaths, const std::string& scenario = named) {
  return play(scenario + "async:" + deaths, 4, 3, locally);
}

TEST(LocalRollbackOfAsyncCommits, gives_the_same_result_as_the_global_one_without_a_death) {
  const auto global = play(named + "async:", 4, 0, {"--mend-commit-every", "4"});
  EXPECT_EQ(said(global), said(play_async("")));
  EXPECT_EQ(results_of(global), undisturbed_results(named, locally));
}

TEST_P(WhoeverDies, goes_back_to_an_async_commit_that_was_published) {
  std::vector<int> steps(4, 12);
  steps[static_cast<std::size_t>(GetParam())] = 8;
  expect_steps(play_async(fmt::format("{}@6", GetParam())), steps);
}

TEST_P(WhoeverDies, passes_an_async_commit_that_its_death_has_prevented) {
  std::vector<int> steps(4, 12);
  steps[static_cast<std::size_t>(GetParam())] = 8;  // from the commit at step 4
  const auto end = play_async(fmt::format("{}@8", GetParam()));
  expect_steps(end, steps);
  EXPECT_THAT(end.errors, HasSubstr(fmt::format("only rank {} goes back to version 1", GetParam())));
  EXPECT_THAT(end.errors, testing::ContainsRegex("; [345] steps were computed twice"));
}

TEST(LocalRollbackOfAsyncCommits, works_when_the_first_commit_is_not_published) {
  expect_steps(play_async("1@4"), {12, 12, 12, 12});
}
TEST(LocalRollbackOfAsyncCommits, works_when_two_commits_in_a_row_are_not_published) {
  expect_steps(play_async("1@4,3@8"), {12, 12, 12, -1});
}
TEST(LocalRollbackOfAsyncCommits, are_made_again_soon_if_they_are_not_published) {
  const auto end = play_async("1@4,3@7");
  expect_steps(end, {12, 12, 12, -1});
  EXPECT_THAT(end.errors, HasSubstr("only rank 3 goes back to version 1"));
}
TEST(LocalRollbackOfAsyncCommits, works_when_the_last_commit_is_not_published) {
  expect_steps(play_async("2@11+finish.before"), {-1, -1, -1, -1});
  expect_steps(play_async("2@11+commit.vote"), {-1, -1, -1, -1});
}
TEST(LocalRollbackOfAsyncCommits, works_when_two_die_at_once) { expect_steps(play_async("1@8,3@8"), {12, 8, 12, 8}); }
TEST(LocalRollbackOfAsyncCommits, works_when_the_successor_dies_too) {
  expect_steps(play_async("1@8,1'@8"), {12, 8, 12, 12});
  expect_steps(play_async("1@8,1'@6,2@10"), {12, 8, -1, 12});
}
/// Messages of after the commit that it passes are there when the process that takes over polls.
TEST(LocalRollbackOfAsyncCommits, polls_for_messages_of_before_the_commit_alone) {
  const auto end = play("polls_for_what_comes:1", 4, 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, AllOf(HasSubstr("only rank 1 goes back"), Not(HasSubstr("all ranks go back"))));
  EXPECT_EQ(said(end), said(play("polls_for_what_comes:0", 4, 0, locally))) << end.errors;
}
/// They do not know which messages the others had sent before it: if one has found a message of later, all go back.
TEST(LocalRollbackOfAsyncCommits, have_the_right_result_whatever_two_that_roll_back_find_when_they_poll) {
  auto options = locally;
  options.insert(options.end(), {"--mend-redundancy", "replicas:2"});
  const auto end = play("polls_for_what_comes:2", 4, 2, options);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  const auto undisturbed = said(play("polls_for_what_comes:0", 4, 0, locally));
  ASSERT_THAT(undisturbed, SizeIs(4));
  EXPECT_THAT(said(end), testing::IsSupersetOf(undisturbed)) << end.errors;
}
TEST(LocalRollbackOfAsyncCommits, works_with_a_disk) {
  const support::ScratchFolder disk;
  auto options = locally;
  options.insert(options.end(), {"--mend-disk", disk.path().string() + ",every=1"});
  expect_steps(play(named + "async:1@8", 4, 1, options), {12, 8, 12, 12});
}
TEST(LocalRollbackOfAsyncCommits, works_with_each_kind_of_message) {
  for (const std::string& scenario : {from_any, with_requests, with_begun, with_neighbours})
    expect_steps(play_async("1@8,2@11", scenario), {12, 8, -1, 12}, scenario);
}

TEST(LocalRollback, is_told_by_the_result_and_by_traces) {
  const support::ScratchFolder folder;
  const std::string result = (folder.path() / "result.json").string();
  const std::string traces = (folder.path() / "traces").string();
  support::Job job = support::mend_run(4, 2, {MEND_SUBJECT, "rolls_back_locally:1@6,0@11"});
  job.command.insert(job.command.begin() + 2, {"--result", result});
  job.command.insert(job.command.end(), locally.begin(), locally.end());
  job.command.insert(job.command.end(), {"--mend-trace", traces});
  const auto end = support::run_job(job);
  ASSERT_EQ(end.exit_code, 0) << end.errors;

  std::ifstream in(result);
  const nlohmann::json recoveries = nlohmann::json::parse(in).at("recoveries");
  ASSERT_THAT(recoveries, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {  // of the first, the process that wrote this knows from others: it was a spare
    const nlohmann::json& local = recoveries.at(i).at("local");
    const int rank = i == 0 ? 1 : 0;
    EXPECT_EQ(local.at("version"), i + 1);
    EXPECT_EQ(local.at("back"), (nlohmann::json::array({{{"rank", rank}}})));
    ASSERT_THAT(local.at("ranks"), SizeIs(4));
    EXPECT_EQ(local.at("ranks").at(static_cast<std::size_t>(rank)).at("kept"), 0);
    EXPECT_GT(local.at("ranks").at(2).at("kept"), 0);
    EXPECT_GT(local.at("ranks").at(2).at("logged"), 0);
  }

  support::Job report;
  report.command = {MEND_COMMAND, "report", result, traces};
  const auto told = support::run_job(report);
  EXPECT_EQ(told.exit_code, 0) << told.errors;
  // The dead had computed one or two steps since the commit at step 4, and two since that at step 8.
  EXPECT_THAT(told.output, testing::ContainsRegex("  rank 1 +1 +[12] +[3-6] +[0-9.]+ +[0-9.]+\n"
                                                  "  rank 0 +2 +[23] +[3-9] +[0-9.]+ +[0-9.]+\n"));
}

// Receives from any source: what a rank receives again comes in an order that is possible.

TEST(LocalRollback, gives_the_same_result_as_the_global_one_with_receives_from_any_source) {
  const auto global = play(from_any, 4, 0, {"--mend-commit-every", "4"});
  ASSERT_THAT(said(global), SizeIs(4)) << global.errors;
  EXPECT_EQ(said(global), said(play(from_any, 4, 0, locally)));
}

TEST_P(WhoeverDies, receives_from_any_source_again) {
  std::vector<int> steps(4, 12);
  steps[static_cast<std::size_t>(GetParam())] = 8;
  for (const int step : {5, 7}) expect_steps(play_from_any(fmt::format("{}@{}", GetParam(), step)), steps, from_any);
}

TEST(LocalRollbackFromAny, works_before_the_first_commit) {
  expect_steps(play_from_any("0@3"), {12, 12, 12, 12}, from_any);
}
TEST(LocalRollbackFromAny, works_before_restore) { expect_steps(play_from_any("2@-1"), {12, 12, 12, 12}, from_any); }
TEST(LocalRollbackFromAny, works_right_after_a_commit) {
  expect_steps(play_from_any("0@8"), {4, 12, 12, 12}, from_any);
}
TEST(LocalRollbackFromAny, works_when_one_dies_after_the_other) {
  expect_steps(play_from_any("0@5,0'@10,2@11"), {4, 12, 4, 12}, from_any);
}
TEST(LocalRollbackFromAny, works_when_the_successor_dies_too) {
  expect_steps(play_from_any("0@7,0'@6"), {8, 12, 12, 12}, from_any);
}

/// Then no order is known to be right.
TEST(LocalRollbackFromAny, has_all_go_back_when_two_die_at_once) {
  for (const char* const dying : {"1&3@6", "0&2@6"}) {
    const auto end = play_from_any(dying);
    expect_steps(end, {-1, -1, -1, -1}, from_any, Entries::any);
    EXPECT_THAT(end.errors, HasSubstr("all ranks go back to the last commit")) << dying;
  }
}

TEST(LocalRollbackFromAny, has_all_go_back_when_another_dies_during_the_recovery) {
  for (const char* const point : {"recovery.confirm", "restore.exchange", "commit.exchange"})
    expect_steps(play_from_any(fmt::format("1@6,3@6+{}", point)), {-1, -1, -1, -1}, from_any, Entries::any);
}

/// Runs a scenario in which this rank goes back alone.
void expect_alone(const std::string& scenario, int ranks, int rank) {
  const auto end = play(scenario, ranks, 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::AllOf(SizeIs(ranks), testing::Each(testing::EndsWith(": epoch 1")))) << end.errors;
  EXPECT_THAT(end.errors, AllOf(HasSubstr(fmt::format("only rank {} goes back", rank)),
                                testing::Not(HasSubstr("all ranks go back"))));
}

TEST(LocalRollbackFromAny, finds_no_message_before_its_cause) { expect_alone("finds_nothing_before_its_cause", 3, 0); }

TEST(LocalRollbackFromAny, receives_what_it_has_probed_before_a_recovery) {
  expect_alone("receives_what_it_has_probed", 4, 3);
}

// Synchronous sends that do not block, and matched messages.

TEST(LocalRollbackOfRequests, gives_the_same_result_as_the_global_one_without_a_death) {
  const auto global = play(with_requests, 4, 0, {"--mend-commit-every", "4"});
  ASSERT_THAT(said(global), SizeIs(4)) << global.errors;
  EXPECT_EQ(said(global), said(play(with_requests, 4, 0, locally)));
}

TEST(LocalRollbackOfRequests, ends_a_synchronous_send_when_it_is_received) {
  const auto end = play("sends_synchronously", 2, 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(2)) << end.errors;
}

TEST(LocalRollbackOfRequests, refuses_a_message_that_is_longer_than_its_receive) {
  for (const char* const program : {"truncates_an_earlier_receive", "goes_on_after_a_cut_message"}) {
    const auto end = play(program, 2, 0, locally);
    EXPECT_EQ(end.exit_code, 2) << end.errors;
    EXPECT_THAT(end.errors, HasSubstr("rank 1: a message is longer than its receive (MPI_ERR_TRUNCATE), which "
                                      "--mend-rollback local does not cover"));
  }
}

TEST(LocalRollbackOfCommunicators, leaves_errors_to_the_handlers_of_the_program) {
  const auto end = play("handles_its_errors", 3, 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3)) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("only rank 1 goes back"));
}

TEST(LocalRollbackOfCommunicators, lets_an_attribute_free_another) {
  const auto end = play("frees_in_a_callback", 2, 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(2)) << end.errors;
}

TEST(LocalRollbackOfCommunicators, lets_an_attribute_free_another_when_the_body_has_ended) {
  const auto end = play("leaves_communicators_to_callbacks", 2, 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(2)) << end.errors;
  EXPECT_THAT(end.output, testing::Not(HasSubstr("freed twice")));
}

TEST_P(WhoeverDies, begins_its_requests_again) {
  std::vector<int> steps(4, 12);
  steps[static_cast<std::size_t>(GetParam())] = 8;
  expect_steps(play(with_requests + fmt::format("{}@6", GetParam()), 4, 3, locally), steps, with_requests);
}

TEST(LocalRollbackOfRequests, works_when_one_dies_after_the_other) {
  expect_steps(play(with_requests + "0@5,2@7", 4, 3, locally), {8, 12, 8, 12}, with_requests);
}
TEST(LocalRollbackOfRequests, works_before_restore) {
  expect_steps(play(with_requests + "1@-1", 4, 3, locally), {12, 12, 12, 12}, with_requests);
}
TEST(LocalRollbackOfRequests, works_when_the_successor_dies_too) {
  expect_steps(play(with_requests + "1@6,1'@5", 4, 3, locally), {12, 8, 12, 12}, with_requests);
}
TEST(LocalRollbackOfRequests, works_when_two_die_at_once) {  // all go back if they have received from any source
  expect_steps(play(with_requests + "1&3@6", 4, 3, locally), {-1, -1, -1, -1}, with_requests, Entries::any);
}

// Collective calls that do not block.

TEST(LocalRollbackOfBegunCollectives, gives_the_same_result_as_the_global_one_without_a_death) {
  const auto global = play(with_begun, 4, 0, {"--mend-commit-every", "4"});
  ASSERT_THAT(said(global), SizeIs(4)) << global.errors;
  EXPECT_EQ(said(global), said(play(with_begun, 4, 0, locally)));
}

TEST(LocalRollbackOfBegunCollectives, goes_on_while_a_rank_does_something_else) {
  const auto end = play("keeps_begun_collectives_going", 3, 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3)) << end.errors;
}

TEST_P(WhoeverDies, begins_its_collectives_again) {
  std::vector<int> steps(4, 12);
  steps[static_cast<std::size_t>(GetParam())] = 8;
  expect_steps(play(with_begun + fmt::format("{}@6", GetParam()), 4, 3, locally), steps, with_begun);
}

TEST(LocalRollbackOfBegunCollectives, works_when_two_die_at_once) {
  expect_steps(play(with_begun + "0&2@6", 4, 3, locally), {8, 12, 8, 12}, with_begun);
}
TEST(LocalRollbackOfBegunCollectives, works_when_one_dies_after_the_other) {
  expect_steps(play(with_begun + "1@5,2@7", 4, 3, locally), {12, 8, 8, 12}, with_begun);
}
TEST(LocalRollbackOfBegunCollectives, works_when_the_successor_dies_too) {
  expect_steps(play(with_begun + "1@6,1'@5", 4, 3, locally), {12, 8, 12, 12}, with_begun);
}
TEST(LocalRollbackOfBegunCollectives, works_when_a_survivor_dies_while_it_replays) {
  expect_steps(play(with_begun + "1@6,3@6+recovery.confirm", 4, 3, locally), {-1, -1, -1, -1}, with_begun);
}

// Neighbourhood and persistent collectives, and communicators made in all ways.

TEST_P(WhoeverDies, meets_its_neighbours_again) {
  std::vector<int> steps(4, 12);
  steps[static_cast<std::size_t>(GetParam())] = 8;
  expect_steps(play(with_neighbours + fmt::format("{}@6", GetParam()), 4, 3, locally), steps, with_neighbours);
}

TEST(LocalRollbackOfNeighbours, works_when_two_die_at_once) {
  expect_steps(play(with_neighbours + "0&2@6", 4, 3, locally), {8, 12, 8, 12}, with_neighbours);
}
TEST(LocalRollbackOfNeighbours, works_when_the_successor_dies_too) {
  expect_steps(play(with_neighbours + "3@6,3'@5", 4, 3, locally), {12, 12, 12, 8}, with_neighbours);
}
TEST(LocalRollbackOfNeighbours, works_before_restore) {
  expect_steps(play(with_neighbours + "2@-1", 4, 3, locally), {12, 12, 12, 12}, with_neighbours);
}

class OnThisManyRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(LocalRollback, OnThisManyRanks, testing::Range(1, 7));

TEST_P(OnThisManyRanks, reductions_are_the_library_s) {
  const auto end = play("reduces_as_the_library", GetParam(), 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(GetParam()));
}

TEST_P(OnThisManyRanks, neighbours_are_the_library_s) {
  const auto end = play("has_neighbours_as_the_library", GetParam(), 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(GetParam())) << end.errors;
}

TEST_P(OnThisManyRanks, begun_collectives_are_the_library_s) {
  const auto end = play("begins_as_the_library", GetParam(), 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(GetParam()));
}

class AtThisPoint : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(LocalRollback, AtThisPoint,
                         testing::Values("ballot.before", "decision.before", "recovery.begin", "recovery.shrink",
                                         "recovery.plan", "recovery.split", "recovery.confirm", "recovery.done",
                                         "restore.inventory", "restore.exchange", "restore.vote", "restore.done",
                                         "commit.pack", "commit.exchange", "commit.vote", "commit.publish",
                                         "finish.before"),
                         place_name<const char*>);

/// It waits for the point from step 4 on, because it may be behind the first that dies.
TEST_P(AtThisPoint, a_survivor_may_die_too) {
  const auto end = play_locally(fmt::format("1@6,3@4+{}", GetParam()));
  expect_steps(end, {-1, -1, -1, -1});
  EXPECT_THAT(end.errors, HasSubstr(": 2 processes died"));
}

TEST_P(AtThisPoint, a_survivor_may_die_too_while_a_commit_is_under_way) {
  const auto end = play_async(fmt::format("1@8,3@6+{}", GetParam()));
  expect_steps(end, {-1, -1, -1, -1});
  EXPECT_THAT(end.errors, HasSubstr(": 2 processes died"));
}

TEST(LocalRollback, has_all_go_back_when_a_rank_does_not_send_the_same_again) {
  const auto end = play("is_not_send_deterministic", 3, 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: epoch 3", "rank 1: epoch 3", "rank 2: epoch 3"));
  EXPECT_THAT(end.errors, HasSubstr("the program is not send-deterministic"));
}

TEST(LocalRollback, has_all_go_back_when_a_rank_receives_less_than_is_sent_again) {
  const auto end = play("receives_less_again", 3, 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: epoch 3", "rank 1: epoch 3", "rank 2: epoch 3"));
  EXPECT_THAT(end.errors, HasSubstr("rank 1: since a rank went back, a message is longer than its receive "
                                    "(MPI_ERR_TRUNCATE): the program is not send-deterministic"));
}

TEST(LocalRollback, has_all_go_back_when_a_rank_leaves_out_a_collective_call_again) {
  const auto end = play("leaves_out_a_barrier_again", 4, 2, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(4)) << end.errors;
  EXPECT_THAT(end.errors, testing::ContainsRegex("since a rank went back, a message of a collective call is shorter "
                                                 "than what the call expects: the program is not send-deterministic"));
}

TEST(LocalRollback, has_all_go_back_when_a_rank_leaves_out_an_agreement_again) {
  const auto end = play("leaves_out_an_agreement_again", 4, 2, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(4)) << end.errors;
  EXPECT_THAT(end.errors, testing::ContainsRegex("since a rank went back, a message (is longer than its receive|of a "
                                                 "collective call is shorter than what the call expects)"));
}

/// Runs a scenario of 3 ranks in which all wait for each other for long after rank 1 has rolled back. Each must end in
/// this epoch.
support::JobEnd play_waiting(const std::string& scenario, int epoch) {
  auto end = play(scenario, 3, 1, {"--mend-rollback", "local", "--mend-stuck-limit", "1.5"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre(fmt::format("rank 0: epoch {}", epoch), fmt::format("rank 1: epoch {}", epoch),
                                     fmt::format("rank 2: epoch {}", epoch)))
      << end.errors;
  return end;
}

TEST(LocalRollback, has_all_go_back_when_they_wait_for_what_is_not_sent_again) {
  EXPECT_THAT(play_waiting("leaves_out_a_message_again", 3).errors,
              HasSubstr("rank 0: since a rank went back, all ranks wait for each other, and nothing moves "
                        "(--mend-stuck-limit): the program is not send-deterministic"));
}

TEST(LocalRollback, has_all_go_back_when_they_agree_while_one_waits_for_what_is_not_sent_again) {
  play_waiting("leaves_out_a_message_before_it_agrees", 3);
}

TEST(LocalRollback, has_all_go_back_when_they_poll_for_what_is_not_sent_again) {
  EXPECT_THAT(play_waiting("polls_for_a_message_again", 3).errors,
              HasSubstr("since a rank went back, all ranks wait for each other, and nothing moves"));
}

TEST(LocalRollback, has_all_go_back_when_one_polls_for_what_depends_on_what_is_not_sent_again) {
  const auto end = play("polls_before_it_sends_again", 3, 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: epoch 3", "rank 1: epoch 3", "rank 2: epoch 3")) << end.errors;
  EXPECT_THAT(end.errors,
              HasSubstr("rank 1: it polls in vain for a message, and does not send what it has sent before: all "
                        "ranks go back to the last commit"));
}

TEST(LocalRollback, has_all_go_back_when_one_waits_for_any_of_what_is_not_sent_again) {
  EXPECT_THAT(play_waiting("leaves_out_what_others_wait_for_any_of", 3).errors,
              HasSubstr("since a rank went back, all ranks wait for each other, and nothing moves"));
}

TEST(LocalRollback, goes_on_when_a_thread_computes_for_long_while_its_rank_polls) {
  EXPECT_THAT(play_waiting("polls_while_a_thread_computes", 1).errors,
              testing::Not(HasSubstr("all ranks wait for each other")));
}

TEST(LocalRollback, ends_the_job_if_all_wait_and_it_is_strict) {
  const auto end =
      play("leaves_out_a_message_again", 3, 1, {"--mend-rollback", "local,strict", "--mend-stuck-limit", "1.5"});
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("since a rank went back, all ranks wait for each other"));
}

TEST(LocalRollback, ends_the_job_instead_if_it_is_strict) {
  const auto end = play("is_not_send_deterministic", 3, 1, {"--mend-rollback", "local,strict"});
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors,
              testing::ContainsRegex(
                  "rank 1: message [1-4] to rank [02] with tag 0 or one before it has another content when it "
                  "is sent again: the program is not send-deterministic .random numbers "
                  "without a seed, or times, as of MPI_Wtime, are usual causes.: with "
                  "--mend-rollback local,strict the job ends"));
}

TEST(LocalRollback, ends_the_job_instead_of_giving_up_ranks_if_it_is_strict) {
  const auto end = play_locally("1@6", 4, 0, {"--mend-rollback", "local,strict", "--mend-on-failure", "shrink"});
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("ranks were given up: with --mend-rollback local,strict the job ends"));
}

// Logs that get full. A step logs 100 KiB, and the limit is 1 MiB.

const std::vector<std::string> with_small_logs{"--mend-rollback",     "local", "--mend-log-limit", "1",
                                               "--mend-commit-every", "1000"};

TEST(FullLogs, ask_for_a_commit_at_the_same_step_on_all_ranks) {
  const auto undisturbed_lines = said(play("fills_logs:commits:", 3, 0, with_small_logs));
  ASSERT_THAT(undisturbed_lines, SizeIs(3));
  const auto commits_of = [](const std::string& line) {
    const auto begin = line.find("commits at");
    return line.substr(begin, line.find(',') - begin);
  };
  // Each is due when less than a tenth of the log is left, so there are at least 3, and at most one for 4 steps.
  EXPECT_THAT(undisturbed_lines[0], testing::ContainsRegex("commits at( [0-9]+){3,10},"));
  EXPECT_EQ(commits_of(undisturbed_lines[0]), commits_of(undisturbed_lines[1]));
  EXPECT_EQ(commits_of(undisturbed_lines[0]), commits_of(undisturbed_lines[2]));

  const auto end = play("fills_logs:commits:1@23,2@37", 3, 2, with_small_logs);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, testing::Not(HasSubstr("is full")));
  const auto lines = said(end);
  ASSERT_THAT(lines, SizeIs(3)) << end.errors;
  EXPECT_EQ(lines[0], undisturbed_lines[0]);
  for (const std::size_t rank : {1U, 2U})
    EXPECT_THAT(lines[rank], testing::StartsWith(undisturbed_lines[rank].substr(0, undisturbed_lines[rank].find(','))));
}

TEST(FullLogs, have_all_go_back_at_a_death_if_no_commit_comes) {
  const auto undisturbed_lines = said(play("fills_logs:goes_on:", 3, 0, with_small_logs));
  const auto end = play("fills_logs:goes_on:1@30", 3, 1, with_small_logs);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), undisturbed_lines);
  EXPECT_THAT(end.errors,
              HasSubstr("its log of messages is full (1 MiB): if a process dies before the next commit, all "
                        "ranks go back; commit more often, or raise --mend-log-limit"));
  EXPECT_THAT(end.errors, testing::Not(HasSubstr("only rank 1 goes back")));
}

TEST(FullLogs, end_a_strict_job_at_a_death) {
  std::vector<std::string> options = with_small_logs;
  options[1] = "local,strict";
  const auto end = play("fills_logs:goes_on:1@30", 3, 1, options);
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("its log of messages was full when a process died"));
}

TEST(FullLogs, are_not_there_without_local_rollback) {
  expect_end(play("fills_logs:commits:", 2, 0, {"--mend-log-limit", "1"}), 2,
             "--mend-log-limit was given without --mend-rollback local");
}

// mend run --check-determinism

support::JobEnd check_determinism(const std::string& scenario, int spares, const std::string& commit_every) {
  support::Job job = support::mend_run(4, spares, {MEND_SUBJECT, scenario, "--mend-commit-every", commit_every});
  job.command.insert(job.command.begin() + 2, "--check-determinism");
  return support::run_job(job);
}

TEST(CheckDeterminism, says_of_each_rank_that_it_sends_the_same_again) {
  const auto end = check_determinism(named, 2, "2");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  for (const int rank : {0, 1})
    EXPECT_THAT(end.errors, testing::ContainsRegex(fmt::format(
                                "rank {} is send-deterministic: [0-9]+ messages were the same when sent again", rank)));
  EXPECT_THAT(end.errors, testing::Not(HasSubstr("rank 2 is send-deterministic")));
  ASSERT_THAT(said(end), SizeIs(4));
}

TEST(CheckDeterminism, names_the_channel_on_which_a_message_differs) {
  const auto end = check_determinism("sends_its_process", 1, "2");
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, testing::ContainsRegex(
                              "rank 0: message [1-9] to rank 1 with tag 42 or one before it has another content when "
                              "it is sent again: the program is not send-deterministic"));
}

TEST(CheckDeterminism, fails_if_nothing_was_checked) {
  const auto end = check_determinism(named, 1, "12");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, HasSubstr("nothing was checked: --check-determinism needs a program that commits at least "
                                    "twice"));
}

TEST(CheckDeterminism, needs_a_spare) {
  expect_end(check_determinism(named, 0, "2"), 2, "a spare for each rank that is tried");
}

TEST(LocalRollback, refuses_each_call_that_it_does_not_cover) {
  const auto end = play("is_refused_each", 1, 1, locally);
  EXPECT_THAT(said(end), ElementsAre("rank 0: not refused:")) << end.errors;
}

/// The spare that takes over one rank has not counted anything before the other was given up.
TEST(LocalRollback, has_all_go_back_when_a_rank_is_given_up_and_another_taken_over) {
  auto options = locally;
  options.emplace_back("--mend-on-failure=spare,shrink");
  options.emplace_back("--mend-redundancy=replicas:2");
  const auto end = play("sends_in_a_ring_of_which_two_die", 4, 1, options);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("1 rank was given up"));
  EXPECT_THAT(said(end), SizeIs(3)) << end.errors;
}

TEST(LocalRollbackOfBegunCollectives, refuses_as_the_library_does_before_anything_is_sent) {
  const auto end = play("goes_on_after_refused_reductions", 3, 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3)) << end.errors;
}

TEST(LocalRollbackOfRequests, leaves_out_what_mpi_refuses_to_send) {
  const auto end = play("goes_on_after_refused_sends", 2, 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(2)) << end.errors;
}

TEST(LocalRollbackOfRequests, refuses_those_of_an_earlier_entry_of_the_body) {
  auto in_clusters = locally;
  in_clusters.emplace_back("--mend-clusters=2");
  expect_end(play("starts_a_request_of_an_earlier_entry", 4, 1, in_clusters), 2,
             "MPI_Start was called for a request of before a recovery");
}

/// Rank 0 goes back with rank 1, and the others stay.
support::JobEnd play_in_two_clusters(const std::string& scenario) {
  auto in_clusters = locally;
  in_clusters.emplace_back("--mend-clusters=2");
  return play(scenario, 4, 1, in_clusters);
}

TEST(LocalRollbackOfRequests, completes_those_of_an_earlier_entry_of_the_body) {
  const auto end = play_in_two_clusters("waits_for_requests_of_an_earlier_entry");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: epoch 1", "rank 1: epoch 1", "rank 2: epoch 1", "rank 3: epoch 1"))
      << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("only ranks 0, 1 go back"));
}

class PollingInC : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(LocalRollback, PollingInC,
                         testing::Values("iprobe", "improbe", "waitany", "waitsome", "testsome", "status"),
                         place_name<const char*>);

TEST_P(PollingInC, ends_when_its_rank_goes_back) {
  const auto end = play_in_two_clusters(fmt::format("polls_in_c:{}", GetParam()));
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: 5 in epoch 1", "rank 1: 5 in epoch 1", "rank 2: 5 in epoch 1",
                                     "rank 3: 5 in epoch 1"))
      << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("only ranks 0, 1 go back"));
}

TEST(LocalRollbackOfBegunCollectives, reduces_pairs_and_long_doubles) {
  const auto end = play("finds_the_smallest_with_its_place", 3, 0, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3)) << end.errors;
}

TEST(LocalRollback, compares_only_what_has_a_meaning) {
  const auto end = play("sends_long_doubles", 3, 1, locally);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3)) << end.errors;
  EXPECT_THAT(end.errors, AllOf(HasSubstr("only rank 1 goes back"), Not(HasSubstr("all ranks go back"))));
}

TEST(LocalRollback, refuses_what_it_does_not_cover) {
  const std::vector<std::pair<std::string, std::string>> uses{
      {"makes_a_communicator", "MPI_Intercomm_create on session.comm.. is not covered"},
      {"commits_with_a_communicator",
       "rank 0: a communicator made since restore.., or a persistent request on it, is there at commit"},
      {"commits_with_a_persistent_request", "or a persistent request on it, is there at commit"},
      {"joins_with_one_process", "MPI_Intercomm_create on session.comm.. is not covered"},
      {"sends_too_much_of_a_derived_type", "does not cover messages of 2 GiB and more: send them in parts"},
      {"makes_a_window", "MPI_Win_create on session.comm.. is not covered"},
      {"commits_with_a_message_under_way", "messages are under way at commit"},
      {"commits_with_a_receive_pending", "rank 1: a request or a matched message was not completed before commit"},
      {"commits_with_a_collective_pending", "rank 1: a request or a matched message was not completed before commit"},
      {"commits_with_a_matched_message", "rank 1: a request or a matched message was not completed before commit"},
      {"restores_twice", "restore.. was called twice"}};
  for (const auto& [scenario, sentence] : uses) {
    SCOPED_TRACE(scenario);
    expect_end(play(scenario, 2, 1, locally), 2, sentence);
  }
}

}  // namespace
