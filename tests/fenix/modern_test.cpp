// Programs for Fenix as of 2026 on mend: the functions that 1.0 does not have, and what LAMMPS's package calls, with
// real deaths.

#include "tests/framework/subject_job.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace {

using support::JobEnd;
using testing::Each;
using testing::EndsWith;
using testing::SizeIs;

constexpr int ranks = 4;

JobEnd play_fenix(const char* program, int spares, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  return support::run_job(support::mend_run(ranks, spares, arguments));
}

void expect_no_check_failed(const JobEnd& end, std::size_t ranks_left) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), SizeIs(ranks_left)) << end.errors;
  EXPECT_THAT(said(end), Each(EndsWith(": 0 checks failed"))) << end.errors;
}

TEST(FenixOf2026, data_is_serialized_staged_and_loaded_and_survives) {
  expect_no_check_failed(play_fenix(MEND_FENIX_SERIALIZED, 1, {"--die=half:0:2:1"}), ranks);
}

TEST(FenixOf2026, in_cpp_a_spare_takes_over_and_then_the_others_close_up) {
  expect_no_check_failed(play_fenix(MEND_FENIX_CPP, 1, {"--die=half:0:2:1,again:0:1:0"}), ranks - 1);
}

TEST(FenixOf2026, starts_in_the_middle_of_a_program_whose_handlers_stay) {
  const auto end = play_fenix(MEND_FENIX_MIDDLE, 2, {"--die=working:0:1:2"});
  expect_no_check_failed(end, ranks + 1);  // one spare took over, the other was released
}

TEST(FenixOf2026, leaves_the_communicator_to_the_program_at_the_end) {
  for (const char* death : {"--die=", "--die=working:0:1:1"}) {
    expect_no_check_failed(play_fenix(MEND_FENIX_FINISHED, 1, {"keep", death}), ranks);
    expect_no_check_failed(play_fenix(MEND_FENIX_FINISHED, 1, {"free", death}), ranks);
  }
}

TEST(FenixOf2026, nobody_waits_at_the_end_for_a_rank_that_dies_there) {
  expect_no_check_failed(play_fenix(MEND_FENIX_FINISHED, 1, {"die", "--die=working:0:1:1"}), ranks - 1);
}

TEST(FenixOf2026, finds_members_that_were_stored_without_elements) {
  expect_no_check_failed(play_fenix(MEND_FENIX_EMPTY, 1, {"--die=committed:0:2:1"}), ranks);
}

TEST(FenixOf2026, a_log_without_messages_needs_no_sync) {
  for (const char* how : {"detecting", "receiving", "duplicate"})
    expect_no_check_failed(play_fenix(MEND_FENIX_EMPTY_LOG, 1, {how, "--die=working:0:2:1"}), ranks);
}

/// 4 ranks and `spares`, of which the processes `dead` die before Fenix_Init.
std::vector<std::string> said_after_early_deaths(int spares, const char* dead) {
  const auto end = play_fenix(MEND_FENIX_EARLY, spares, {std::to_string(spares), dead});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  return said(end);
}

TEST(FenixOf2026, tells_of_ranks_that_are_missing_since_before_init) {
  EXPECT_THAT(said_after_early_deaths(2, "1"),
              testing::AllOf(SizeIs(4), Each(EndsWith("role 0, error 0, 4 initial, 0 missing, 1 spare, 0 failed"))));
  EXPECT_THAT(said_after_early_deaths(1, "0,2"),
              testing::AllOf(SizeIs(3), Each(EndsWith("role 0, error 100, 3 initial, 1 missing, 0 spare, 0 failed"))));
}

TEST(FenixOf2026, a_rank_that_is_taken_over_comes_out_as_such_whatever_dies_before_it_does) {
  const auto end = play_fenix(MEND_FENIX_ENTERING, 2, {});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::UnorderedElementsAre("rank 0: came out as 0", "rank 1: came out as 1",
                                                       "rank 2: came out as 0", "rank 3: came out as 1"))
      << end.errors;
}

TEST(FenixOf2026, does_about_a_failure_what_the_program_chooses) {
  for (const char* mode : {"noop", "ignore", "callback"})
    expect_no_check_failed(play_fenix(MEND_FENIX_MODES, 1, {mode, "--die=working:0:2:1"}), ranks);
}

// --- what LAMMPS's package calls -----------------------------------------------------------------------------------

/// What its ranks say: each step adds what the ranks of the world have.
std::vector<std::string> right_totals(bool universal, long steps) {
  std::vector<std::string> lines;
  for (int rank = 0; rank < ranks; ++rank) {
    const int first = universal ? rank / 2 * 2 : 0;
    const int size = universal ? 2 : ranks;
    long total = 0;
    for (long step = 0; step < steps; ++step) {
      for (int other = first; other < first + size; ++other) total += other + step;
    }
    lines.push_back(fmt::format("rank {}: total {}", rank, total));
  }
  return lines;
}

/// Two spares, or one world of them, and two deaths at moments of which nobody knows where they fall.
void play_lammps(bool universal, unsigned seed) {
  std::mt19937 random(seed);
  constexpr long steps = 1000;
  std::vector<std::string> deaths;
  std::vector<int> victims{0, 1, 2, 3, 4};  // the fifth process is a spare: it dies if it has taken over
  std::ranges::shuffle(victims, random);
  for (int i = 0; i < 2; ++i) {
    const auto after = std::uniform_int_distribution<long>(0, 250'000)(random);
    deaths.push_back(fmt::format("{}:{}", victims[static_cast<std::size_t>(i)], after));
  }
  const std::string when = fmt::format("--die-after={},{}", deaths[0], deaths[1]);
  const std::string mode = universal ? "universal" : "one";
  const auto end = play_fenix(MEND_FENIX_LAMMPS, 2, {mode, "2", std::to_string(steps), when});
  EXPECT_EQ(end.exit_code, 0) << mode << ' ' << when << '\n' << end.errors;
  EXPECT_EQ(said(end), right_totals(universal, steps)) << mode << ' ' << when << '\n' << end.errors;
}

class AsLammps : public testing::TestWithParam<bool> {};

/// A few jobs; with MEND_TEST_LONG=1 as many as go into 60 s.
TEST_P(AsLammps, sums_stay_right_under_random_kills) {
  const bool is_long = support::long_tests();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  unsigned jobs = 0;
  while (jobs < 3 || (is_long && std::chrono::steady_clock::now() < end)) {
    play_lammps(GetParam(), ++jobs);
    if (HasFailure()) break;
  }
  RecordProperty("jobs", static_cast<int>(jobs));
  fmt::print("{} jobs with two kills each\n", jobs);
}

INSTANTIATE_TEST_SUITE_P(Modes, AsLammps, testing::Bool(),
                         [](const auto& mode) { return std::string(mode.param ? "in_two_worlds" : "in_one_world"); });

}  // namespace
