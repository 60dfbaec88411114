// The losses that each redundancy survives (the table in store/redundancy.hpp), on processes that are killed: for every
// row exactly the promised losses, and one more. tests/store/placement/survival_test.cpp kills every subset, in memory.

#include "tests/framework/place_name.hpp"
#include "tests/support/subject_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace {

support::JobEnd evolve(const std::string& redundancy, int ranks, const std::vector<int>& victims,
                       const std::string& later = "") {
  const int spares = static_cast<int>(victims.size()) + (later.empty() ? 0 : 1);
  return play(fmt::format("these_die:{};{}", fmt::join(victims, ","), later), ranks, spares,
              {"--mend-redundancy=" + redundancy});
}

/// The output of the ranks without deaths, for any redundancy.
const std::vector<std::string>& undisturbed_output(int ranks) {
  static std::map<int, std::vector<std::string>> said_by;
  auto& lines = said_by[ranks];
  if (lines.empty()) lines = said(evolve("local", ranks, {}));
  EXPECT_THAT(lines, testing::SizeIs(ranks));
  return lines;
}

struct Row {
  std::string redundancy;
  int ranks;
  std::vector<std::vector<int>> survived;
  std::vector<int> one_more;
  std::string lost;  ///< the message when `one_more` die
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.redundancy << " on " << row.ranks << " ranks"; }

class SurvivalOnProcesses : public testing::TestWithParam<Row> {};

TEST_P(SurvivalOnProcesses, is_what_the_table_promises) {
  for (const auto& victims : GetParam().survived) {
    const auto end = evolve(GetParam().redundancy, GetParam().ranks, victims);
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_EQ(said(end), undisturbed_output(GetParam().ranks)) << fmt::format("when {} died", fmt::join(victims, ", "));
  }
}

TEST_P(SurvivalOnProcesses, ends_with_one_more_in_a_sentence_that_names_ranks_and_version) {
  expect_end(evolve(GetParam().redundancy, GetParam().ranks, GetParam().one_more), 3,
             fmt::format("the data of {} at version 5 is lost", GetParam().lost));
}

std::string name_of(const testing::TestParamInfo<Row>& info) {
  std::string name = fmt::format("{}_{}_ranks", info.param.redundancy, info.param.ranks);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '+'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, SurvivalOnProcesses,
                         testing::Values(Row{"local", 2, {std::vector<int>{}}, {1}, "rank 1"},
                                         Row{"partner", 4, {{0}, {3}, {0, 2}}, {1, 2}, "rank 1"},
                                         Row{"replicas:2", 4, {{0, 1}, {3, 0}}, {1, 2, 3}, "rank 1"},
                                         Row{"xor:4", 4, {{0}, {3}}, {1, 2}, "ranks 1, 2"},
                                         Row{"xor:3", 6, {{2, 3}}, {2, 4}, "ranks 2, 4"},
                                         Row{"rs:4+2", 6, {{0, 5}, {2, 3}}, {0, 1, 4}, "ranks 0, 1, 4"}),
                         name_of);

class AGroupOfTwoAndTwo : public testing::TestWithParam<std::string> {};

TEST_P(AGroupOfTwoAndTwo, survives_a_second_death_wherever_it_comes) {
  const std::string place = GetParam();
  const bool in_commit = place.starts_with("commit.");
  const auto end = evolve("rs:2+2", 4, in_commit ? std::vector<int>{} : std::vector<int>{1}, "2@" + place);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  auto expected = undisturbed_output(4);
  expected.insert(expected.begin() + 2, fmt::format("rank 2: dies at {}", place));
  EXPECT_EQ(said(end), expected);
}

INSTANTIATE_TEST_SUITE_P(Places, AGroupOfTwoAndTwo,
                         testing::Values("commit.pack", "commit.exchange", "commit.vote", "commit.publish",
                                         "restore.inventory", "restore.transfer", "restore.exchange", "restore.protect",
                                         "restore.unpack", "restore.vote", "restore.done"),
                         place_name<std::string>);

support::JobEnd evolve_in_groups(const std::string& of_field, const std::string& of_the_rest, int ranks,
                                 const std::vector<int>& victims, const std::string& later = "") {
  const int spares = static_cast<int>(victims.size()) + (later.empty() ? 0 : 1);
  return play(fmt::format("in_two_groups:{};{};{}", of_field, fmt::join(victims, ","), later), ranks, spares,
              {"--mend-redundancy=" + of_the_rest});
}

TEST(MembersOfTwoRedundancies, survive_what_both_survive) {
  for (const auto& victims : {std::vector{0}, std::vector{3}}) {
    for (const auto& [of_field, of_the_rest] :
         {std::pair{"xor:4", "replicas:2"}, std::pair{"partner", "xor:4"}, std::pair{"rs:2+2", "partner"}}) {
      const auto end = evolve_in_groups(of_field, of_the_rest, 4, victims);
      EXPECT_EQ(end.exit_code, 0) << end.errors;
      EXPECT_EQ(said(end), undisturbed_output(4)) << of_field << " and " << of_the_rest;
    }
  }
  const auto end = evolve_in_groups("rs:2+2", "replicas:2", 4, {0, 1});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), undisturbed_output(4));
}

TEST(MembersOfTwoRedundancies, are_lost_with_what_one_of_them_does_not_survive) {
  expect_end(evolve_in_groups("xor:4", "replicas:2", 4, {1, 2}), 3, "the data of ranks 1, 2 at version 5 is lost");
  expect_end(evolve_in_groups("rs:2+2", "partner", 4, {1, 2}), 3, "the data of rank 1 at version 5 is lost");
  expect_end(evolve_in_groups("local", "replicas:2", 4, {1}), 3, "the data of rank 1 at version 5 is lost");
}

class TwoRedundancies : public testing::TestWithParam<std::string> {};

TEST_P(TwoRedundancies, survive_a_second_death_wherever_it_comes) {
  const std::string place = GetParam();
  const bool in_commit = place.starts_with("commit.");
  const auto end =
      evolve_in_groups("rs:2+2", "replicas:2", 4, in_commit ? std::vector<int>{} : std::vector<int>{1}, "2@" + place);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  auto expected = undisturbed_output(4);
  expected.insert(expected.begin() + 2, fmt::format("rank 2: dies at {}", place));
  EXPECT_EQ(said(end), expected);
}

INSTANTIATE_TEST_SUITE_P(Places, TwoRedundancies,
                         testing::Values("commit.exchange", "commit.vote", "commit.publish", "restore.exchange",
                                         "restore.protect", "restore.vote"),
                         place_name<std::string>);

class AsynchronousCommits : public testing::TestWithParam<std::string> {};

TEST_P(AsynchronousCommits, lose_nothing_wherever_a_rank_dies) {
  const std::string place = GetParam();
  for (const char* redundancy : {"partner", "rs:2+2"}) {
    const auto end = play("commits_asynchronously:;2@" + place, 4, 1, {std::string("--mend-redundancy=") + redundancy});
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    auto expected = undisturbed_output(4);
    expected.insert(expected.begin() + 2, fmt::format("rank 2: dies at {}", place));
    EXPECT_EQ(said(end), expected);
  }
}

TEST(AnAsynchronousCommit, loses_nothing_when_ranks_die_between_beginning_and_end) {
  const auto end = play("commits_asynchronously:0,2;", 4, 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), undisturbed_output(4));
}

INSTANTIATE_TEST_SUITE_P(Places, AsynchronousCommits,
                         testing::Values("commit.pack", "commit.exchange", "commit.vote", "commit.publish"),
                         place_name<std::string>);

TEST(ImpossibleRedundancy, is_refused_in_one_sentence) {
  expect_end(evolve("xor:4", 3, {}), 2, "redundancy xor:4 needs 4 ranks or more, and the job has 3");
  expect_end(evolve_in_groups("xor:4", "partner", 3, {}), 2,
             "redundancy xor:4 needs 4 ranks or more, and the job has 3");
  expect_end(evolve("mirror", 3, {}), 2, "'mirror' is not a redundancy: give partner, replicas:K");
}

}  // namespace
