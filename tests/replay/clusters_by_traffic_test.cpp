#include "replay/clusters/clusters.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace mend::replay {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Adds what two ranks send each other.
void exchange(TrafficMatrix& traffic, int ranks, int one, int other, std::uint64_t bytes) {
  traffic[static_cast<std::size_t>(one * ranks + other)] += bytes;
  traffic[static_cast<std::size_t>(other * ranks + one)] += bytes;
}

TrafficMatrix nothing(int ranks) { return TrafficMatrix(static_cast<std::size_t>(ranks * ranks)); }

TrafficMatrix ring(int ranks) {
  TrafficMatrix traffic = nothing(ranks);
  for (int rank = 0; rank < ranks; ++rank) exchange(traffic, ranks, rank, (rank + 1) % ranks, 100);
  return traffic;
}

/// Each sends its neighbours as much.
TrafficMatrix grid(int side) {
  const int ranks = side * side;
  TrafficMatrix traffic = nothing(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % side + 1 < side) exchange(traffic, ranks, rank, rank + 1, 100);
    if (rank + side < ranks) exchange(traffic, ranks, rank, rank + side, 100);
  }
  return traffic;
}

std::vector<int> sizes_of(const Clusters& clusters) {
  std::map<int, int> sizes;
  for (const int one : clusters) ++sizes[one];
  std::vector<int> all;
  for (const auto& [one, size] : sizes) all.push_back(size);
  return all;
}

TEST(ClustersByTraffic, are_squares_of_a_stencil_on_a_grid) {
  const Clusters clusters = clusters_by_traffic(grid(8), 64, 32);
  for (int rank = 0; rank < 64; ++rank)
    EXPECT_EQ(clusters[static_cast<std::size_t>(rank)], rank / 32 * 2 + rank % 8 / 4) << to_string(clusters);
  const ClusterPrice price = price_of(clusters, grid(8));
  EXPECT_DOUBLE_EQ(price.logged, 16.0 / 112);
  EXPECT_DOUBLE_EQ(price.back, 1.0 / 4);
}

TEST(ClustersByTraffic, are_pieces_of_a_ring) {
  const Clusters clusters = clusters_by_traffic(ring(16), 16, 8);
  EXPECT_THAT(sizes_of(clusters), Each(4));
  EXPECT_EQ(clusters, blocks_of_ranks(16, 4));
  EXPECT_DOUBLE_EQ(price_of(clusters, ring(16)).logged, 0.25);
}

TEST(ClustersByTraffic, are_single_ranks_where_all_send_all_as_much) {
  const TrafficMatrix traffic(64, 100);
  EXPECT_EQ(clusters_by_traffic(traffic, 8, 4), single_ranks(8));
}

TEST(ClustersByTraffic, are_not_larger_than_wanted) {
  for (int most = 1; most <= 9; ++most)
    EXPECT_LE(std::ranges::max(sizes_of(clusters_by_traffic(grid(6), 36, most))), most);
}

TEST(ClustersByTraffic, are_found_whatever_their_ranks_are_called) {
  constexpr int ranks = 12;
  std::vector<int> name{7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 4, 6};
  TrafficMatrix traffic = nothing(ranks);
  for (int one = 0; one < ranks; ++one) {
    for (int other = 0; other < one; ++other)
      exchange(traffic, ranks, name[static_cast<std::size_t>(one)], name[static_cast<std::size_t>(other)],
               one / 4 == other / 4 ? 1000 : 1);
  }
  const Clusters clusters = clusters_by_traffic(traffic, ranks, 6);
  for (int one = 0; one < ranks; ++one) {
    for (int other = 0; other < ranks; ++other) {
      EXPECT_EQ(clusters[static_cast<std::size_t>(name[static_cast<std::size_t>(one)])] ==
                    clusters[static_cast<std::size_t>(name[static_cast<std::size_t>(other)])],
                one / 4 == other / 4);
    }
  }
}

TEST(ClustersByTraffic, of_ranks_that_send_nothing_are_single) {
  EXPECT_EQ(clusters_by_traffic(nothing(5), 5, 4), single_ranks(5));
  EXPECT_THAT(clusters_by_traffic({}, 0, 1), ElementsAre());
  EXPECT_THAT(clusters_by_traffic({7}, 1, 1), ElementsAre(0));
}

TEST(ClustersByTraffic, are_never_dearer_than_single_ranks) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    const int ranks = std::uniform_int_distribution(1, 20)(random);
    TrafficMatrix traffic = nothing(ranks);
    for (std::uint64_t& bytes : traffic)
      bytes = std::uniform_int_distribution<std::uint64_t>(0, 3)(random) == 0 ? random() % 1000 : 0;
    const Clusters clusters = clusters_by_traffic(traffic, ranks, std::max(1, ranks / 2));
    EXPECT_LE(price_of(clusters, traffic).sum(), price_of(single_ranks(ranks), traffic).sum() + 1e-9);
  }
}

}  // namespace
}  // namespace mend::replay
