// Jobs without spares, which start processes for the ranks of the dead. They must end with the result of the run
// without deaths, for all deaths.

#include "tests/faults/app.hpp"
#include "tests/faults/cases.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace {

using faults::App;
using faults::Case;
using faults::Remains;
using testing::HasSubstr;
using testing::ValuesIn;

constexpr int no_spares = 0;

void expect_survived(const App& app, const std::vector<std::string>& kills) {
  const Remains remains = faults::run(app, kills, no_spares);
  faults::expect_all_died(remains, kills);
  faults::expect_undisturbed_result(app, remains);
  if (testing::Test::HasFailure()) std::cerr << remains.end.output << remains.end.errors;
}

class Spawning : public testing::TestWithParam<Case> {};

TEST_P(Spawning, ends_with_the_undisturbed_result) { expect_survived(faults::stencil_that("spawn"), GetParam().kills); }

std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Replacements, Spawning, ValuesIn(faults::replacements_are_started()), case_name);
INSTANTIATE_TEST_SUITE_P(SurvivorDies, Spawning, ValuesIn(faults::a_survivor_dies_while_one_is_started()), case_name);
INSTANTIATE_TEST_SUITE_P(NewcomerDies, Spawning, ValuesIn(faults::the_one_started_dies()), case_name);

TEST(SpawnRung, is_climbed_fifty_times) {
  App app = faults::stencil_that("spawn");
  app.name = "stencil of 60 steps";
  app.arguments = {"--size", "12", "--steps", "60", "--mend-on-failure", "spawn"};
  std::vector<std::string> kills;
  for (int i = 0; i < 50; ++i) kills.push_back(fmt::format("{}@{}", i % 4, i + 3));
  expect_survived(app, kills);
}

TEST(SpawnRung, comes_after_the_spares) {
  const App app = faults::stencil_that("spare,spawn");
  const std::vector<std::string> kills{"2@3", "0@5", "1@7"};
  const Remains remains = faults::run(app, kills, 1);
  faults::expect_all_died(remains, kills);
  faults::expect_undisturbed_result(app, remains);
}

TEST(SpawnRung, that_is_made_ready_by_one_that_hangs_does_not_keep_the_job) {
  App app = faults::stencil_that("spare,spawn");
  app.name = "stencil of 2000 steps";
  app.arguments = {"--size", "32", "--steps", "2000", "--commit-every", "20", "--mend-on-failure", "spare,spawn"};
  const std::vector<std::string> kills{"2@3", "hang p5@0:newcomer.call"};
  const Remains remains = faults::run(app, kills, 1);
  faults::expect_all_died(remains, kills);
  faults::expect_undisturbed_result(app, remains);
}

/// Rank 2 dies, and then the first `newcomers` of those that are started for it.
std::vector<std::string> deaths_of_newcomers(int newcomers) {
  std::vector<std::string> deaths{"2@5"};
  for (int i = 0; i < newcomers; ++i) deaths.push_back(fmt::format("p{}@0:newcomer.connect", faults::ranks + i));
  return deaths;
}

/// Three hosts start three processes each.
const std::vector<std::string> nobody_comes = deaths_of_newcomers(9);

TEST(SpawnRung, is_climbed_by_another_host_if_what_the_first_one_starts_dies) {
  const App app = faults::stencil_that("spawn");
  const std::vector<std::string> kills = deaths_of_newcomers(3);
  const Remains remains = faults::run(app, kills, no_spares);
  faults::expect_all_died(remains, kills);
  faults::expect_undisturbed_result(app, remains);
  EXPECT_THAT(remains.end.errors, HasSubstr("process 0 cannot start another one to take over a rank: 3 that it has"));
  EXPECT_THAT(remains.end.errors, HasSubstr("process 7 took over"));
}

TEST(SpawnRung, that_breaks_is_left_for_the_next) {
  for (const char* rungs : {"spawn,shrink", "spawn,blank"}) {
    const Remains remains = faults::run(faults::stencil_that(rungs), nobody_comes, no_spares);
    faults::expect_all_died(remains, nobody_comes);
    EXPECT_EQ(remains.end.exit_code, 0) << remains.end.errors;
    EXPECT_THAT(remains.end.errors,
                HasSubstr("cannot start another one to take over a rank: 3 that it has started have died"));
    EXPECT_THAT(remains.end.errors, HasSubstr("1 rank was given up"));
    EXPECT_THAT(remains.end.output, HasSubstr("field hash ad90fa83a712fb37")) << "as with 4 ranks";
  }
}

TEST(SpawnRung, that_breaks_and_was_the_last_is_a_clear_end) {
  const Remains remains = faults::run(faults::stencil_that("spawn"), nobody_comes, no_spares);
  faults::expect_all_died(remains, nobody_comes);
  EXPECT_EQ(remains.end.exit_code, 3);
  EXPECT_THAT(remains.end.errors,
              HasSubstr("rank 2 (process 2) died and nobody took over, and no process could be started instead"));
}

}  // namespace
