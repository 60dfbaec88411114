#include "apps/common/ordered_sum.hpp"

#include <gtest/gtest.h>

namespace {

TEST(OrderedSum, adds_in_rank_order) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  // Minus large, small, large, small: the first small one is lost, unless it is added to another small one first.
  const auto partial_of = [](int of_rank) { return of_rank % 2 == 0 ? 1e17 * (of_rank - 1) : 1.0 + of_rank; };
  double expected = 0;
  for (int r = 0; r < ranks; ++r) expected += partial_of(r);
  double reversed = 0;
  for (int r = ranks - 1; r >= 0; --r) reversed += partial_of(r);
  if (ranks == 4) {
    EXPECT_NE(reversed, expected);
    EXPECT_NE((partial_of(0) + partial_of(1)) + (partial_of(2) + partial_of(3)), expected);
  }

  EXPECT_EQ(apps::ordered_sum(MPI_COMM_WORLD, partial_of(rank)), expected);
  const auto two = apps::ordered_sum(MPI_COMM_WORLD, std::array{1.0, partial_of(rank)});
  EXPECT_EQ(two[0], ranks);
  EXPECT_EQ(two[1], expected);
}

}  // namespace
