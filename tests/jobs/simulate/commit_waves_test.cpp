// Compares the simulated commits of clusters with values calculated by hand.

#include "bench/simulated/commit_waves.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>

namespace {

using mend::bench::CommitOrder;
using mend::bench::CommittingJob;
using mend::bench::Exchange;
using mend::bench::lost_to_commits;

constexpr auto together = CommitOrder::together;
constexpr auto in_order = CommitOrder::in_order;
constexpr auto interleaved = CommitOrder::interleaved;

CommittingJob committing(std::uint32_t ranks, std::uint32_t clusters, std::uint32_t steps, CommitOrder order,
                         Exchange exchange) {
  return {ranks, clusters, steps, order, exchange};
}

/// The mean of so many intervals that each number of intervals up to 8 after which the delays recur divides it.
double exactly_lost(const CommittingJob& job) { return lost_to_commits(job, 840); }

TEST(CommitWaves, ranks_that_need_no_messages_lose_their_own_commit_alone) {
  for (const CommitOrder order : {together, in_order, interleaved})
    EXPECT_DOUBLE_EQ(lost_to_commits(committing(24, 6, 12, order, Exchange::none)), 1);
}

TEST(CommitWaves, commits_in_the_same_step_overlap_in_each_pattern) {
  for (const Exchange exchange : {Exchange::none, Exchange::ring, Exchange::grid, Exchange::all})
    EXPECT_DOUBLE_EQ(lost_to_commits(committing(24, 6, 12, together, exchange)), 1);
}

TEST(CommitWaves, all_commits_add_up_if_each_rank_needs_messages_of_all_others) {
  for (const CommitOrder order : {in_order, interleaved}) {
    EXPECT_DOUBLE_EQ(lost_to_commits(committing(24, 6, 12, order, Exchange::all)), 6);
    EXPECT_DOUBLE_EQ(lost_to_commits(committing(24, 1, 12, order, Exchange::all)), 1);
  }
}

TEST(CommitWaves, commits_between_two_reductions_overlap) {
  // Clusters commit in the steps 0, 2, 4, ... 22. Reductions are in the steps 0, 8 and 16.
  CommittingJob loose = committing(24, 12, 24, in_order, Exchange::all);
  loose.exchange_every = 8;
  EXPECT_DOUBLE_EQ(lost_to_commits(loose), 3);
  // Reductions are in the steps 0, 9, 18, 27, ... Between any two of them, clusters commit.
  loose.exchange_every = 9;
  EXPECT_NEAR(lost_to_commits(loose), 24 / 9.0, 1 / 24.0);
}

TEST(CommitWaves, a_delay_passes_a_rank_of_a_ring_in_each_step) {
  // 4 clusters of 3 ranks, 2 steps after each other. The costliest path: rank 2 in step 0, rank 3 in step 2, rank 6 in
  // step 4, which is 4 ranks away from rank 2, and back to rank 2 in step 8. Rank 9 in step 6 is too far from rank 2.
  EXPECT_DOUBLE_EQ(exactly_lost(committing(12, 4, 8, in_order, Exchange::ring)), 3);
  // With an exchange in each second step only, rank 6 is 8 steps away from rank 2.
  CommittingJob loose = committing(12, 4, 8, in_order, Exchange::ring);
  loose.exchange_every = 2;
  EXPECT_DOUBLE_EQ(exactly_lost(loose), 2);
}

/// K clusters of B ranks in a ring commit u steps after each other.
///
/// A path from cluster to cluster collects the commit of each if it passes B ranks in u steps: all K in an interval. If
/// B > u, it falls behind. It begins at the last rank of a cluster and is at the first rank of the m-th cluster in time
/// if (m - 2) B + 1 <= (m - 1) u. Then it returns to a cluster that is q - 1 clusters back and has not committed again
/// yet: (q - 2) B + 1 <= K u - (q - 1) u. That cluster is q - m clusters before the first one, so it commits q - m
/// times u before an interval is over. So m commits are lost in (K - q + m) u steps.
double lost_in_ring(int clusters, int block, int apart) {
  if (block <= apart) return clusters;
  const int m = (2 * block - apart - 1) / (block - apart);
  const int q = (clusters * apart + 2 * block + apart - 1) / (block + apart);
  return static_cast<double>(clusters) * m / (clusters - q + m);
}

TEST(CommitWaves, a_ring_loses_what_the_costliest_path_collects) {
  EXPECT_DOUBLE_EQ(lost_in_ring(4, 3, 2), 3);
  EXPECT_DOUBLE_EQ(lost_in_ring(3, 5, 4), 2.5);
  for (const auto [clusters, block, apart] : {std::array{2, 5, 2},
                                              {3, 2, 2},
                                              {3, 5, 4},
                                              {3, 11, 10},
                                              {4, 2, 3},
                                              {4, 3, 2},
                                              {4, 7, 6},
                                              {5, 9, 1},
                                              {6, 3, 2}}) {
    const CommittingJob ring =
        committing(static_cast<std::uint32_t>(clusters * block), static_cast<std::uint32_t>(clusters),
                   static_cast<std::uint32_t>(clusters * apart), in_order, Exchange::ring);
    EXPECT_NEAR(exactly_lost(ring), lost_in_ring(clusters, block, apart), 0.01)
        << clusters << " clusters of " << block << ", " << apart << " steps apart";
  }
}

TEST(CommitWaves, neighbours_alone_add_up_in_wide_clusters_in_each_order) {
  // The two ranks at a boundary: no delay reaches another boundary within an interval.
  for (const CommitOrder order : {in_order, interleaved})
    EXPECT_DOUBLE_EQ(lost_to_commits(committing(240, 4, 12, order, Exchange::ring)), 2);
}

TEST(CommitWaves, a_grid_loses_less_than_a_ring_of_its_rows_because_it_has_ends) {
  // 8 x 8 ranks, 4 clusters of 2 rows, 4 steps after each other. From row 1 in step 0 to row 4 in step 8, and back to
  // row 1 by step 16. Row 6 in step 12 is 5 rows away from row 1, and only 4 steps are left.
  EXPECT_DOUBLE_EQ(exactly_lost(committing(64, 4, 16, in_order, Exchange::grid)), 3);
  EXPECT_DOUBLE_EQ(lost_in_ring(4, 2, 4), 4);
  // 5 steps after each other: 5 steps are left.
  EXPECT_DOUBLE_EQ(exactly_lost(committing(64, 4, 20, in_order, Exchange::grid)), 4);
  // 6 x 6 ranks, 3 clusters of 2 rows in the order 0, 2, 1, with 2 steps between them. Row 1 is 3 rows away from row 4,
  // so only two clusters add up. If the grid closed, row 0 would be beside row 5.
  EXPECT_DOUBLE_EQ(exactly_lost(committing(36, 3, 6, interleaved, Exchange::grid)), 2);
}

TEST(CommitWaves, a_delay_meets_fewer_commits_in_interleaved_clusters) {
  // 16 x 16 ranks, a cluster is a row. Rows 0, 8, 4, 12, ... commit 2 steps after each other.
  EXPECT_GT(lost_to_commits(committing(256, 16, 32, in_order, Exchange::grid)),
            lost_to_commits(committing(256, 16, 32, interleaved, Exchange::grid)));
}

TEST(CommitWaves, more_ranks_than_the_network_carries_commit_more_slowly) {
  const auto lost = [](CommittingJob job, double share) {
    job.network_share = share;
    return lost_to_commits(job);
  };
  EXPECT_DOUBLE_EQ(lost(committing(24, 4, 12, together, Exchange::all), 0.25), 4);
  EXPECT_DOUBLE_EQ(lost(committing(24, 4, 12, in_order, Exchange::none), 0.25), 1);
  EXPECT_DOUBLE_EQ(lost(committing(24, 4, 12, in_order, Exchange::all), 0.25), 4);
  EXPECT_DOUBLE_EQ(lost(committing(24, 2, 12, in_order, Exchange::none), 0.25), 2);
  // 3 and 2 of 5 ranks, where one can send at full speed.
  EXPECT_DOUBLE_EQ(lost(committing(5, 2, 12, in_order, Exchange::none), 0.2), 3);
  EXPECT_DOUBLE_EQ(lost(committing(5, 2, 12, in_order, Exchange::all), 0.2), 5);
  // 8 clusters in 4 steps: two at a time.
  EXPECT_DOUBLE_EQ(lost(committing(24, 8, 4, in_order, Exchange::all), 1), 4);
  EXPECT_DOUBLE_EQ(lost(committing(24, 8, 4, in_order, Exchange::all), 0.125), 8);
}

TEST(CommitWaves, at_least_one_commit_is_lost_and_at_most_one_for_each_cluster) {
  for (const std::uint32_t ranks : {7U, 24U, 36U}) {
    for (const std::uint32_t clusters : {1U, 2U, 3U, 7U}) {
      for (const CommitOrder order : {together, in_order, interleaved}) {
        for (const Exchange exchange : {Exchange::none, Exchange::ring, Exchange::grid, Exchange::all}) {
          for (const std::uint32_t every : {1U, 3U, 50U}) {
            CommittingJob one = committing(ranks, clusters, 10, order, exchange);
            one.exchange_every = every;
            EXPECT_GE(lost_to_commits(one), 1);
            EXPECT_LE(lost_to_commits(one), clusters);
          }
        }
      }
    }
  }
}

}  // namespace
