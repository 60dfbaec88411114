// The report of a recovery in which each rank has its own times.

#include "framework/reporting/result_file.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace {

using mend::Milliseconds;

constexpr mend::WallClock::time_point start{std::chrono::hours(1)};

/// The recovery as seen by this rank. The last rank noticed last and has the longest phases, except for
/// `interrupt`.
mend::RecoveryReport own() {
  const int rank = support::world_rank();
  mend::RecoveryReport report;
  report.noticed = start + std::chrono::milliseconds(rank);
  report.interrupt = Milliseconds{rank == 0 ? 10 : 1};
  report.agree = Milliseconds{rank};
  report.rebuild = Milliseconds{2};
  report.restore = Milliseconds{5};
  return report;
}

TEST(ARecovery, has_the_time_line_of_one_rank_in_the_report_of_the_job) {
  const std::vector mine{own()};
  const auto told = mend::over_all_ranks(mine, MPI_COMM_WORLD);
  ASSERT_EQ(told.size(), 1u);
  // For rank 0 it took longest.
  EXPECT_EQ(told[0].noticed, start);
  EXPECT_EQ(told[0].interrupt, Milliseconds{10});
  EXPECT_EQ(told[0].agree, Milliseconds{0});
  EXPECT_EQ(told[0].whole(), Milliseconds{17});
  EXPECT_FALSE(told[0].machine.empty());
}

}  // namespace
