// Programs for Fenix as of 2026 on mend: the functions that 1.0 does not have, and what LAMMPS's package calls, with
// real deaths.

#include "tests/fenix/fenix_job.hpp"
#include "tests/fenix/snapshot/lost_data.hpp"
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

TEST(FenixOf2026, ranks_may_differ_in_depth_and_first_time_stamp) {
  for (const char* death : {"--die=stored:0:1:1", "--die=staged:0:1:1"})
    expect_no_check_failed(play_fenix(MEND_FENIX_DIFFERING, 1, {death}), ranks);
}

TEST(FenixOf2026, a_snapshot_that_one_rank_has_deleted_is_gone_when_ranks_are_given_up) {
  expect_no_check_failed(play_fenix(MEND_FENIX_DIFFERING, 1, {"--die=stored:0:1:1,deleted:0:2:0"}), ranks - 1);
}

TEST(FenixOf2026, tells_and_changes_attributes_and_finds_by_time_stamp) {
  expect_no_check_failed(play_fenix(MEND_FENIX_ATTRIBUTES, 1, {"--die=half:0:1:1"}), ranks);
}

TEST(FenixOf2026, members_that_were_deleted_since_the_last_commit_do_not_come_back) {
  expect_no_check_failed(play_fenix(MEND_FENIX_DELETED, 1, {"--die=deleted:0:1:1"}), ranks);
}

TEST(FenixOf2026, a_member_of_one_rank_is_none_of_a_process_that_takes_over_another) {
  expect_no_check_failed(play_fenix(MEND_FENIX_ALONE, 1, {"--die=committed:0:2:1"}), ranks);
}

TEST(FenixOf2026, ranks_at_different_groups_are_refused_and_get_the_data_of_none) {
  expect_no_check_failed(play_fenix(MEND_FENIX_ORDER, 1, {"--die=committed:0:1:1"}), ranks);
}

TEST(FenixOf2026, what_was_stored_before_ranks_were_given_up_is_not_committed) {
  expect_no_check_failed(play_fenix(MEND_FENIX_SHRUNK, 0, {"stored", "--die=committed:0:2:0"}), ranks - 1);
}

TEST(FenixOf2026, survivors_keep_their_snapshots_when_another_failure_follows_one_that_gave_up_ranks) {
  expect_no_check_failed(play_fenix(MEND_FENIX_SHRUNK, 0, {"revoked", "--die=committed:0:2:0"}), ranks - 1);
}

TEST(FenixOf2026, a_rank_that_was_given_up_is_none_of_its_group) {
  expect_no_check_failed(play_fenix(MEND_FENIX_SHRUNK, 0, {"early", "--die=committed:0:2:0"}), ranks - 1);
}

TEST(FenixOf2026, a_rank_that_was_taken_over_keeps_what_it_has_stored_locally_in_a_recovery_in_place) {
  expect_no_check_failed(play_fenix(MEND_FENIX_LOCAL, 2, {"--die=working:0:2:2,stored:0:1:1"}), ranks);
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

/// Which process has which rank and slot, and what all of them say of the job. As in Fenix, spares have the ranks of
/// the dead, as far as they go, and the other ranks close up.
TEST(FenixOf2026, keeps_the_numbers_of_ranks_when_others_have_died_before_init) {
  const auto of = [](int rank, int process, int slot, const char* job) {
    return fmt::format("rank {}: process {}, slot {}, which is its, repaired, role 0, {}", rank, process, slot, job);
  };
  const char* job = "error 0, 4 initial, 0 missing, 1 spare, 0 failed";
  EXPECT_THAT(said_after_early_deaths(2, "1"),
              testing::ElementsAre(of(0, 0, 0, job), of(1, 4, 1, job), of(2, 2, 2, job), of(3, 3, 3, job)));
  const char* smaller = "error 100, 3 initial, 1 missing, 0 spare, 0 failed";
  EXPECT_THAT(said_after_early_deaths(1, "0,2"),
              testing::ElementsAre(of(0, 4, 0, smaller), of(1, 1, 1, smaller), of(2, 3, 3, smaller)));
}

TEST(FenixOf2026, a_rank_that_is_taken_over_comes_out_as_such_whatever_dies_before_it_does) {
  const auto end = play_fenix(MEND_FENIX_ENTERING, 2, {});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              testing::UnorderedElementsAre("rank 0: came out as 0, failed: 1 3", "rank 1: came out as 1, failed: 1 3",
                                            "rank 2: came out as 0, failed: 1 3", "rank 3: came out as 1, failed: 3"))
      << end.errors;
}

TEST(FenixOf2026, does_about_a_failure_what_the_program_chooses) {
  for (const char* mode : {"noop", "ignore", "callback", "finalize"})
    expect_no_check_failed(play_fenix(MEND_FENIX_MODES, 1, {mode, "--die=working:0:2:1"}), ranks);
}

// --- what LAMMPS's package calls -----------------------------------------------------------------------------------

/// What rank `rank` says: in each step its world adds up its items.
std::string right_total(const std::string& mode, int rank, long steps) {
  constexpr int items = 12;
  const int world = mode == "universal" || mode == "worlds" ? rank / 2 : 0;
  long total = 0;
  for (long step = 0; step < steps; ++step) {
    for (int item = 0; item < items; ++item) total += item + step + 1000 * world;
  }
  return fmt::format("rank {}: total {}", rank, total);
}

/// The processes named in `deaths` die so many microseconds after they have got a rank. Fails the test unless all ranks
/// that are left, at least `fewest`, say what is right. Returns true if data was lost, with two processes that held it.
bool play_lammps(const std::string& mode, int spares, int fewest, const std::string& deaths) {
  constexpr long steps = 1000;
  const support::ScratchFolder folder;
  const auto end = play_fenix(
      MEND_FENIX_LAMMPS, spares,
      {mode, std::to_string(spares), std::to_string(steps), folder.path().string(), "--die-after=" + deaths});
  SCOPED_TRACE(fmt::format("{} with {} spares, {}\n{}", mode, spares, deaths, end.errors));
  EXPECT_EQ(end.exit_code, 0);
  const std::vector<std::string> totals = said(end);
  EXPECT_GE(totals.size(), static_cast<std::size_t>(fewest));
  EXPECT_LE(totals.size(), static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < totals.size(); ++rank)
    EXPECT_EQ(totals[rank], right_total(mode, static_cast<int>(rank), steps));
  const bool is_told = end.output.find("warning: not enough spare ranks") != std::string::npos;
  EXPECT_EQ(is_told, totals.size() < ranks);
  EXPECT_THAT(end.errors, testing::Not(testing::HasSubstr("still running")));  // in MPI_COMM_WORLD, for the spares
  return lost_data_of_ranks_that_died_together(end);
}

struct LikeLammps {
  std::string mode;
  int spares;
  int fewest;
};

class AsLammps : public testing::TestWithParam<LikeLammps> {};

TEST_P(AsLammps, sums_are_right_when_nobody_dies) {
  EXPECT_FALSE(play_lammps(GetParam().mode, GetParam().spares, ranks, ""));
}

/// Two deaths at moments of which nobody knows where they fall. A few jobs; with MEND_TEST_LONG=1 as many as go into 60
/// s.
TEST_P(AsLammps, sums_stay_right_under_random_kills) {
  const bool is_long = support::long_tests();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto& [mode, spares, fewest] = GetParam();
  unsigned jobs = 0;
  int lost = 0;
  while (jobs < 3 || (is_long && std::chrono::steady_clock::now() < end)) {
    std::mt19937 random(++jobs);
    std::vector<int> victims{0, 1, 2, 3, 4};  // the fifth process is a spare: it dies if it has taken over
    std::ranges::shuffle(victims, random);
    const auto after = [&] { return std::uniform_int_distribution<long>(0, 250'000)(random); };
    const std::string first = fmt::format("{}:{}", victims[0], after());
    lost += play_lammps(mode, spares, fewest, fmt::format("{},{}:{}", first, victims[1], after())) ? 1 : 0;
    if (HasFailure()) break;
  }
  RecordProperty("jobs", static_cast<int>(jobs));
  fmt::print("{} jobs with two kills each, {} of which lost data that two processes had alone\n", jobs, lost);
}

INSTANTIATE_TEST_SUITE_P(Modes, AsLammps,
                         testing::Values(LikeLammps{"one", 2, 4}, LikeLammps{"files", 2, 4}, LikeLammps{"files", 1, 3},
                                         LikeLammps{"files", 0, 2}, LikeLammps{"universal", 2, 4},
                                         LikeLammps{"worlds", 2, 4}),
                         [](const auto& how) { return fmt::format("{}_{}_spares", how.param.mode, how.param.spares); });

}  // namespace
