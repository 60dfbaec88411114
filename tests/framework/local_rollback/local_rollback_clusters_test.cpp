// --mend-rollback local with --mend-clusters: the ranks of a cluster go back together.

#include "tests/framework/local_rollback/rolled_back_job.hpp"
#include "tests/framework/place_name.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;
using testing::SizeIs;

support::JobEnd play_in(const std::string& clusters, const std::string& scenario, int ranks = 4, int spares = 3) {
  return play(scenario, ranks, spares,
              {"--mend-rollback", "local", "--mend-commit-every", "4", "--mend-redundancy", "replicas:2",
               "--mend-clusters", clusters});
}

constexpr Done stayed{12, 1};

/// Fails the current test unless all ranks have the results of a run without a death and without clusters, and each has
/// done what `done` says of it. The library's own neighbourhood collectives are not compared: Open MPI 5.0 has defects
/// in those that do not block.
void expect_right(const support::JobEnd& end, const std::vector<Done>& done, const std::string& scenario = named) {
  std::vector<std::string> options{"--mend-commit-every", "4"};
  if (scenario == with_neighbours) options.insert(options.end(), {"--mend-rollback", "local"});
  expect_rolled_back(end, undisturbed_results(scenario, options), done);
}

class WhoeverOfAClusterDies : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(LocalRollback, WhoeverOfAClusterDies, testing::Range(0, 4));

TEST_P(WhoeverOfAClusterDies, goes_back_with_it_alone) {
  const int rank = GetParam();
  std::vector<Done> done(4, stayed);
  const int mate = rank ^ 1;
  done[static_cast<std::size_t>(rank)] = {8, 1};
  done[static_cast<std::size_t>(mate)] = {8, 2};
  const auto end = play_in("2", fmt::format("{}{}@6", named, rank));
  expect_right(end, done);
  EXPECT_THAT(end.errors, HasSubstr("1 recovery: 1 process died"));
  const std::string cluster = rank < 2 ? "0, 1" : "2, 3";
  EXPECT_THAT(end.errors, testing::ContainsRegex(fmt::format(
                              "only ranks {} go back to version 1: the others keep [2-4] steps that they have computed "
                              "since; a rank has logged [0-9.]+ MiB at most",
                              cluster)));
  EXPECT_THAT(end.errors, testing::ContainsRegex(fmt::format("rank {} went back once, rank {} went back once; [2-6] "
                                                             "steps were computed twice, and [2-4] were kept",
                                                             rank & 2, (rank & 2) + 1)));
}

TEST(LocalRollbackOfClusters, works_before_the_first_commit) {
  expect_right(play_in("2", named + "2@3"), {stayed, stayed, {12, 1}, {12, 2}});
}
TEST(LocalRollbackOfClusters, works_before_restore) {
  expect_right(play_in("2", named + "1@-1"), {{12, -1}, {12, -1}, stayed, stayed});
}
TEST(LocalRollbackOfClusters, works_right_after_a_commit) {
  expect_right(play_in("2", named + "1@8"), {{4, 2}, {4, 1}, stayed, stayed});
}
TEST(LocalRollbackOfClusters, works_with_async_commits) {
  expect_right(play_in("2", named + "async:1@6"), {{8, 2}, {8, 1}, stayed, stayed});
  expect_right(play_in("2", named + "async:1@8"),
               {{8, 2}, {8, 1}, stayed, stayed});  // that at step 8 was not published
  expect_right(play_in("2", named + "async:1@8,2@8"), {{8}, {8, 1}, {8, 1}, {8}});
  expect_right(play_in("2", named + "async:1@8,2@11"), {{8, 2}, {8, 1}, {-1, 1}, {-1, 2}});
  expect_right(play_in("2", named + "async:1@8,1'@8"), {{8, 3}, {8, 1}, stayed, stayed});
}
TEST(LocalRollbackOfClusters, works_when_two_of_one_die) {
  expect_right(play_in("2", named + "2&3@6"), {stayed, stayed, {8}, {8}});
}
TEST(LocalRollbackOfClusters, works_when_all_have_a_dead_rank) {
  expect_right(play_in("2", named + "1&2@6"), {{8}, {8, 1}, {8, 1}, {8}});
}
TEST(LocalRollbackOfClusters, works_when_two_of_three_have_a_dead_rank) {
  const support::ScratchFolder folder;
  const std::string file = (folder.path() / "clusters").string();
  std::ofstream(file) << "# the middle\n1-2\n0\n3\n";
  expect_right(play_in(file, named + "1&3@6"), {stayed, {8, 1}, {8, 2}, {8, 1}});
}
TEST(LocalRollbackOfClusters, works_when_one_goes_back_after_the_other) {
  expect_right(play_in("2", named + "1@5,2@7"), {{8, 2}, {8, 1}, {8, 1}, {8, 2}});
}
TEST(LocalRollbackOfClusters, works_when_the_same_goes_back_again) {
  expect_right(play_in("2", named + "1@6,0@10"), {{4, 1}, {4}, stayed, stayed});
}
TEST(LocalRollbackOfClusters, works_when_the_successor_dies_too) {
  expect_right(play_in("2", named + "1@6,1'@5"), {{8}, {8, 1}, stayed, stayed});
}
TEST(LocalRollbackOfClusters, works_when_the_successor_dies_in_the_setup) {
  expect_right(play_in("2", named + "1@6,1'@-1"), {{8}, {8, 1}, stayed, stayed});
}
TEST(LocalRollbackOfClusters, works_with_processes_that_are_started) {
  const auto end = play(
      named + "1@6", 4, 0,
      {"--mend-rollback", "local", "--mend-commit-every", "4", "--mend-clusters", "2", "--mend-on-failure", "spawn"});
  expect_right(end, {{8, 2}, {8, 1}, stayed, stayed});
}
TEST(LocalRollbackOfClusters, has_all_go_back_when_a_rank_is_given_up) {
  const auto end = play(
      "sends_in_a_ring_that_becomes_smaller", 4, 0,
      {"--mend-rollback", "local", "--mend-commit-every", "4", "--mend-clusters", "2", "--mend-on-failure", "shrink"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(3)) << end.errors;
}
TEST(LocalRollbackOfClusters, is_the_global_one_if_all_are_in_one) {
  expect_right(play_in("1", named + "2@6"), {{8, 2}, {8, 2}, {8, 1}, {8, 2}});
}
TEST(LocalRollbackOfClusters, works_with_those_of_a_node) {  // which is one here
  expect_right(play_in("node", named + "2@6"), {{8, 2}, {8, 2}, {8, 1}, {8, 2}});
}
TEST(LocalRollbackOfClusters, works_with_collectives_that_do_not_block) {
  expect_right(play_in("2", with_begun + "0@6"), {{8, 1}, {8, 2}, stayed, stayed}, with_begun);
}

// With what is there for each rank alone too: neighbourhood collectives, logs that get full, and strict jobs.

support::JobEnd play_strictly_in(const std::string& clusters, const std::string& scenario) {
  return play(scenario, 4, 3,
              {"--mend-rollback", "local,strict", "--mend-commit-every", "4", "--mend-redundancy", "replicas:2",
               "--mend-clusters", clusters});
}

TEST(LocalRollbackOfClusters, works_with_neighbours) {
  expect_right(play_strictly_in("2", with_neighbours + "1@6"), {{8, 2}, {8, 1}, stayed, stayed}, with_neighbours);
}
/// The cluster goes through its setup again with other mates than in the first run.
TEST(LocalRollbackOfClusters, works_with_neighbours_and_clusters_by_traffic) {
  const auto end = play_strictly_in("auto", with_neighbours + "2@6");
  expect_right(end, {{}, {}, {8, 1}, {}}, with_neighbours);
  EXPECT_THAT(end.errors, HasSubstr(" by traffic ("));
}
TEST(LocalRollbackOfClusters, ends_a_strict_job_if_no_rank_stays) {
  const auto end = play_strictly_in("1", named + "1@6");
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("each cluster has lost a process, so no rank stays: with --mend-rollback "
                                    "local,strict the job ends"));
}

/// A step logs 100 KiB in ranks 1 and 2, and rank 0 keeps copies for rank 1. The limit is 1 MiB.
TEST(LocalRollbackOfClusters, commits_before_logs_are_full_at_the_same_steps_after_it_went_back) {
  const std::vector<std::string> options{"--mend-rollback",     "local", "--mend-log-limit", "1",
                                         "--mend-commit-every", "1000",  "--mend-clusters",  "2"};
  const auto expected = results_of(play("fills_logs:commits:", 3, 0, options));
  ASSERT_THAT(expected, SizeIs(3));
  EXPECT_THAT(expected[0], testing::ContainsRegex("commits at( [0-9]+){3,10}$"));
  const auto end = play("fills_logs:commits:1@23,2@37", 3, 2, options);
  EXPECT_EQ(results_of(end), expected) << end.errors;
  EXPECT_THAT(end.errors, testing::Not(HasSubstr("is full")));
  EXPECT_THAT(end.errors, HasSubstr("only ranks 0, 1 go back"));
  EXPECT_THAT(end.errors, HasSubstr("only rank 2 goes back"));
}

/// The order in which its messages come again is not known.
TEST(LocalRollbackOfClusters, has_all_go_back_if_it_receives_from_any_source) {
  const auto end = play_in("2", from_any + "1@6");
  expect_right(end, {{}, {}, {}, {}}, from_any);
  EXPECT_THAT(end.errors, HasSubstr("all ranks go back to the last commit"));
}

class AtThisPointOfAMate : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(LocalRollback, AtThisPointOfAMate,
                         testing::Values("ballot.before", "recovery.begin", "recovery.split", "recovery.done",
                                         "restore.inventory", "restore.exchange", "restore.done", "commit.exchange",
                                         "commit.publish", "finish.before"),
                         place_name<const char*>);

TEST_P(AtThisPointOfAMate, a_survivor_that_goes_back_may_die_too) {
  const auto end = play_in("2", fmt::format("{}1@6,0@4+{}", named, GetParam()));
  expect_right(end, {{}, {}, {}, {}});
  EXPECT_THAT(end.errors, testing::HasSubstr(": 2 processes died"));
}
TEST_P(AtThisPointOfAMate, a_survivor_that_stays_may_die_too) {
  const auto end = play_in("2", fmt::format("{}1@6,3@4+{}", named, GetParam()));
  expect_right(end, {{}, {}, {}, {}});
  EXPECT_THAT(end.errors, testing::HasSubstr(": 2 processes died"));
}

TEST(LocalRollbackOfClusters, is_told_by_the_result_and_by_traces) {
  const support::ScratchFolder folder;
  const std::string result = (folder.path() / "result.json").string();
  const std::string traces = (folder.path() / "traces").string();
  support::Job job = support::mend_run(4, 2, {MEND_SUBJECT, "rolls_back_locally:1@6"});
  job.command.insert(job.command.begin() + 2, {"--result", result});
  job.command.insert(job.command.end(), {"--mend-rollback", "local", "--mend-commit-every", "4", "--mend-clusters", "2",
                                         "--mend-trace", traces});
  const auto end = support::run_job(job);
  ASSERT_EQ(end.exit_code, 0) << end.errors;
  std::ifstream in(result);
  const nlohmann::json recoveries = nlohmann::json::parse(in).at("recoveries");
  ASSERT_THAT(recoveries, SizeIs(1));
  const nlohmann::json& local = recoveries.at(0).at("local");
  EXPECT_EQ(local.at("version"), 1);
  EXPECT_EQ(local.at("back"), (nlohmann::json::array({{{"rank", 0}}, {{"rank", 1}}})));
  for (const std::size_t rank : {2U, 3U}) EXPECT_GT(local.at("ranks").at(rank).at("kept"), 0);
  for (const std::size_t rank : {0U, 1U}) EXPECT_EQ(local.at("ranks").at(rank).at("kept"), 0);

  support::Job report;
  report.command = {MEND_COMMAND, "report", result, traces};
  const auto told = support::run_job(report);
  EXPECT_EQ(told.exit_code, 0) << told.errors;
  EXPECT_THAT(told.output, testing::ContainsRegex("  rank 0, rank 1 +1 +[2-6] +[2-4] +[0-9.]+ +[0-9.]+\n"));
}

/// By rank: the bytes in its log at each commit of sends_in_a_ring, which commits every `every` steps.
std::map<int, std::vector<long>> logged_in_a_ring(const std::string& clusters, int ranks, int every,
                                                  std::string* errors = nullptr) {
  const support::ScratchFolder folder;
  const auto end = play("sends_in_a_ring", ranks, 0,
                        {"--mend-rollback", "local", "--mend-commit-every", std::to_string(every), "--mend-clusters",
                         clusters, "--mend-trace", folder.path().string()});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  if (errors != nullptr) *errors = end.errors;
  std::map<int, std::vector<long>> logged;
  for (int process = 0; process < ranks; ++process) {
    std::ifstream in(folder.path() / fmt::format("process-{}.json", process));
    const nlohmann::json trace = nlohmann::json::parse(in, nullptr, false);
    const nlohmann::json& events = trace.is_array() ? trace : trace.at("traceEvents");
    for (const nlohmann::json& event : events)
      if (event.value("name", "") == "logged") logged[process].push_back(event.at("args").at("bytes").get<long>());
  }
  return logged;
}

/// As docs/replay.md says: steps of an interval, times the bytes of a step that go to other clusters. In steps 1, 2 and
/// 5, ranks also ask each other how large their logs are: each sends 8 bytes to two others, one of which is its mate if
/// there are 2 clusters.
TEST(LogOfClusters, has_what_is_sent_between_them) {
  using testing::ElementsAre;
  using testing::Pair;
  EXPECT_THAT(logged_in_a_ring("rank", 4, 4),
              ElementsAre(Pair(0, ElementsAre(32'032, 32'016)), Pair(1, ElementsAre(32'032, 32'016)),
                          Pair(2, ElementsAre(32'032, 32'016)), Pair(3, ElementsAre(32'032, 32'016))));
  EXPECT_THAT(logged_in_a_ring("2", 4, 4),
              ElementsAre(Pair(0, ElementsAre(16, 8)), Pair(1, ElementsAre(32'016, 32'008)),
                          Pair(2, ElementsAre(16, 8)), Pair(3, ElementsAre(32'016, 32'008))));
  EXPECT_THAT(logged_in_a_ring("1", 2, 2),
              ElementsAre(Pair(0, ElementsAre(0, 0, 0, 0)), Pair(1, ElementsAre(0, 0, 0, 0))));
}

TEST(LogOfClusters, is_shorter_once_they_are_found_by_traffic) {
  using testing::ElementsAre;
  using testing::Pair;
  std::string errors;
  const auto logged = logged_in_a_ring("auto", 4, 4, &errors);
  EXPECT_THAT(errors, HasSubstr("2 clusters by traffic (0-1 | 2-3): 50.0 % of the bytes are logged, and 50.0 % of the "
                                "ranks go back on average when one dies"));
  EXPECT_THAT(logged, ElementsAre(Pair(0, ElementsAre(32'032, 8)), Pair(1, ElementsAre(32'032, 32'008)),
                                  Pair(2, ElementsAre(32'032, 8)), Pair(3, ElementsAre(32'032, 32'008))));
}

TEST(LocalRollbackOfClusters, works_with_those_by_traffic) {
  // Before the first commit each rank goes back alone, and after it with its cluster.
  const auto end = play_in("auto", named + "1@3,2@6", 4, 3);
  expect_right(end, {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}});
  EXPECT_THAT(end.errors, HasSubstr("only rank 1 goes back to the beginning"));
  EXPECT_THAT(end.errors, HasSubstr(" by traffic (")) << end.errors;
}

TEST(LocalRollbackOfClusters, refuses_a_choice_that_does_not_fit) {
  const support::ScratchFolder folder;
  const std::string file = (folder.path() / "clusters").string();
  std::ofstream(file) << "0,1\n1-3\n";
  const auto expect_refused = [](const std::vector<std::string>& options, const std::string& regex) {
    const auto end = play(named, 4, 0, options);
    EXPECT_EQ(end.exit_code, 2) << end.errors;
    EXPECT_THAT(end.errors, testing::ContainsRegex(regex));
  };
  expect_refused({"--mend-rollback", "local", "--mend-clusters", "5"},
                 "--mend-clusters 5 is not possible with 4 ranks: give a number from 1 to 4");
  expect_refused({"--mend-rollback", "local", "--mend-clusters", "0"}, "0 is not a number of clusters");
  expect_refused({"--mend-rollback", "local", "--mend-clusters", "nodes"}, "'nodes' is not a number of clusters");
  expect_refused({"--mend-rollback", "local", "--mend-clusters", file}, "line 2: rank 1 is already in line 1");
  expect_refused({"--mend-clusters", "2"}, "--mend-rollback local, which was not given");
}

}  // namespace
