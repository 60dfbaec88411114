// Interior and shell together must be the block, each cell once: they are computed before and after the messages.

#include "apps/stencil/heat.hpp"

#include <gtest/gtest.h>

#include <map>

namespace {

using stencil::Box;

std::map<std::array<int, 3>, int> visits(const Box& own, int radius) {
  std::map<std::array<int, 3>, int> count;
  const auto visit = [&](const Box& box) {
    for (int i = box.begin[0]; i < box.end[0]; ++i) {
      for (int j = box.begin[1]; j < box.end[1]; ++j) {
        for (int k = box.begin[2]; k < box.end[2]; ++k) ++count[{i, j, k}];
      }
    }
  };
  const Box interior = stencil::interior_of(own, radius);
  visit(interior);
  for (const Box& slab : stencil::shell_of(own, interior)) visit(slab);
  return count;
}

TEST(Shell, covers_every_cell_once_whatever_the_block) {
  for (const int radius : {1, 4}) {
    for (const int nx : {1, 4, 8, 9, 12}) {
      for (const int ny : {1, 7, 10}) {
        for (const int nz : {2, 8, 11}) {
          const Box own{{radius, radius, radius}, {radius + nx, radius + ny, radius + nz}};
          const auto count = visits(own, radius);
          EXPECT_EQ(count.size(), static_cast<std::size_t>(nx * ny * nz)) << nx << ' ' << ny << ' ' << nz;
          for (const auto& [cell, times] : count) EXPECT_EQ(times, 1);
        }
      }
    }
  }
}

TEST(Shell, the_inside_reads_no_ghost_cell) {
  const Box own{{4, 4, 4}, {24, 24, 24}};
  EXPECT_EQ(stencil::interior_of(own, 4), (Box{{8, 8, 8}, {20, 20, 20}}));
  EXPECT_TRUE(stencil::interior_of(Box{{4, 4, 4}, {12, 24, 24}}, 4).empty());
}

}  // namespace
