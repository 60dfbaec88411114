// Every snapshot that a program for Fenix keeps comes back to the last bit, whoever is killed and where.

#include "tests/fenix/fenix_job.hpp"
#include "tests/fenix/snapshot/lost_data.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace {

using support::JobEnd;

JobEnd play_history(const std::string& mode, int spares, long steps, const std::vector<std::string>& deaths) {
  std::vector<std::string> arguments{mode, std::to_string(spares), std::to_string(steps)};
  arguments.insert(arguments.end(), deaths.begin(), deaths.end());
  return play_fenix(MEND_FENIX_HISTORY, spares, arguments);
}

void expect_whole(const JobEnd& end, const std::string& what) {
  EXPECT_EQ(end.exit_code, 0) << what << '\n' << end.errors;
  std::vector<std::string> right;
  for (int rank = 0; rank < ranks; ++rank)
    right.push_back(fmt::format("rank {}: 0 elements wrong, 0 snapshots missing", rank));
  EXPECT_EQ(said(end), right) << what << '\n' << end.errors;
}

TEST(FenixHistory, without_a_failure_every_snapshot_has_what_was_stored) {
  for (const char* mode : {"accumulate", "fresh", "parity"}) expect_whole(play_history(mode, 0, 24, {}), mode);
}

/// A rank is killed at a place of mend's, in its N-th visit there; processes 4 and 5 are spares.
class FenixHistoryAt : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(FenixHistoryAt, all_snapshots_come_back) {
  for (const char* mode : {"accumulate", "fresh", "parity"}) {
    if (mode == std::string("parity") && GetParam().size() > 1) continue;  // they survive one death at a time
    const JobEnd end = play_history(mode, 2, 16, GetParam());
    expect_whole(end, mode);
    EXPECT_THAT(end.errors, testing::HasSubstr(GetParam().size() == 1 ? " 1 rank was taken over" : " 2 ranks were"))
        << mode;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Deaths, FenixHistoryAt,
    testing::Values(
        // between two members of a store
        std::vector<std::string>{"--kill=storing:9:1"},
        // in a commit: the first one, and a later one
        std::vector<std::string>{"--kill=commit.pack:9:0"}, std::vector<std::string>{"--kill=commit.exchange:1:2"},
        std::vector<std::string>{"--kill=commit.exchange:10:2"}, std::vector<std::string>{"--kill=commit.vote:2:3"},
        std::vector<std::string>{"--kill=commit.vote:9:1"}, std::vector<std::string>{"--kill=commit.publish:8:0"},
        std::vector<std::string>{"--kill=commit.publish:1:3"},
        // and a survivor, or the one that has just taken over, while data comes back
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.inventory:1:3"},
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.transfer:1:3"},
        std::vector<std::string>{"--kill=commit.vote:8:1", "--kill=restore.transfer:2:4"},
        std::vector<std::string>{"--kill=commit.vote:8:1", "--kill=restore.exchange:2:4"},
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.exchange:3:4"},
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.protect:1:4"},
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.protect:3:4"},
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.vote:1:3"},
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.vote:2:4"},
        std::vector<std::string>{"--kill=commit.publish:8:1", "--kill=restore.done:1:4"}));

/// What is left is committed anew among those who are left. A second rank dies in the middle of that.
TEST(FenixHistory, survivors_keep_their_snapshots_when_ranks_are_given_up) {
  for (const bool twice : {false, true}) {
    std::vector<std::string> deaths{"--kill=commit.publish:8:1"};
    if (twice) deaths.emplace_back("--kill=commit.exchange:10:2");
    for (const char* mode : {"accumulate", "fresh"}) {
      const JobEnd end = play_history(mode, 0, 16, deaths);
      EXPECT_EQ(end.exit_code, 0) << mode << '\n' << end.errors;
      EXPECT_THAT(said(end), testing::SizeIs(twice ? ranks - 2 : ranks - 1));
      EXPECT_THAT(said(end), testing::Each(testing::EndsWith(": 0 elements wrong, 0 snapshots missing"))) << end.errors;
    }
  }
}

/// Two ranks that hold each other's data die at once.
TEST(FenixHistory, begins_anew_and_tells_who_died_when_data_is_lost) {
  const JobEnd end = play_history("fresh", 2, 16, {"--kill=storing:9:1", "--kill=storing:9:2"});
  expect_whole(end, "two ranks at once");
  ASSERT_TRUE(lost_data_of_ranks_that_died_together(end)) << end.errors;
  EXPECT_THAT(end.errors, testing::HasSubstr("the data of rank 1 at version 8 is lost: "));
  EXPECT_THAT(end.errors,
              testing::HasSubstr("the Fenix data group is empty; since the last commit or restore have died: rank 1 "
                                 "(process 1), rank 2 (process 2)\n"));
  EXPECT_THAT(end.output, testing::HasSubstr("began at time stamp 8\n"));
}

/// A few jobs; with MEND_TEST_LONG=1 as many as go into 60 s.
TEST(FenixHistory, is_right_under_random_kills) {
  const bool is_long = support::long_tests();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  unsigned jobs = 0;
  int lost = 0;
  while (jobs < 3 || (is_long && std::chrono::steady_clock::now() < end)) {
    std::mt19937 random(++jobs);
    std::vector<int> victims{0, 1, 2, 3, 4};  // the fifth process is a spare: it dies if it has taken over
    std::ranges::shuffle(victims, random);
    std::vector<std::string> deaths;
    for (int i = 0; i < 2; ++i) {
      deaths.push_back(fmt::format("--die-after={}:{}", victims[static_cast<std::size_t>(i)],
                                   std::uniform_int_distribution<long>(0, 400'000)(random)));
    }
    const std::string mode = jobs % 2 == 0 ? "accumulate" : "fresh";
    const JobEnd job = play_history(mode, 2, 40, deaths);
    const std::string what = fmt::format("{} {} {}", mode, deaths[0], deaths[1]);
    EXPECT_EQ(job.exit_code, 0) << what << '\n' << job.errors;
    EXPECT_THAT(said(job), testing::SizeIs(ranks)) << what << '\n' << job.errors;
    for (const std::string& line : said(job)) EXPECT_THAT(line, testing::HasSubstr(": 0 elements wrong")) << what;
    const bool begins_anew = lost_data_of_ranks_that_died_together(job);
    EXPECT_TRUE(begins_anew || job.output.find("began at time stamp 0\n") != std::string::npos) << what << job.errors;
    lost += begins_anew ? 1 : 0;
    if (HasFailure()) break;
  }
  RecordProperty("jobs", static_cast<int>(jobs));
  fmt::print("{} jobs with two kills each, {} of which lost data that two processes had alone\n", jobs, lost);
}

}  // namespace
