#include "fenix/data/subset.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace {

using fenix::DataSubset;
using Block = DataSubset::Block;
using testing::ElementsAre;

TEST(Subset, is_in_order_and_its_blocks_do_not_touch) {
  EXPECT_THAT(DataSubset({{5, 6}, {0, 1}}).blocks(), ElementsAre(Block{0, 1}, Block{5, 6}));
  EXPECT_THAT(DataSubset({{2, 3}, {7, 9}, {0, 1}, {4, 7}}).blocks(), ElementsAre(Block{0, 9}));
  EXPECT_THAT(DataSubset({{3, DataSubset::MAX}, {0, 1}, {5, 8}}).blocks(),
              ElementsAre(Block{0, 1}, Block{3, DataSubset::MAX}));
}

TEST(Subset, adds_and_takes_away) {
  const DataSubset a({{2, 3}, {10, 19}, {30, 39}});
  const DataSubset b({{0, 0}, {12, 13}, {18, 32}, {35, 36}});
  EXPECT_THAT((a + b).blocks(), ElementsAre(Block{0, 0}, Block{2, 3}, Block{10, 39}));
  EXPECT_EQ(a + a, a);
  EXPECT_EQ(a + b, b + a);
  EXPECT_EQ(a + DataSubset(), a);
  EXPECT_THAT((a - b).blocks(), ElementsAre(Block{2, 3}, Block{10, 11}, Block{14, 17}, Block{33, 34}, Block{37, 39}));
  EXPECT_TRUE((a - a).empty());
  EXPECT_THAT((DataSubset(DataSubset::MAX) - b).blocks(),
              ElementsAre(Block{1, 11}, Block{14, 17}, Block{33, 34}, Block{37, DataSubset::MAX}));
}

TEST(Subset, of_a_million_blocks_takes_a_moment) {
  constexpr std::size_t count = 1'000'000;
  const DataSubset even(Block{0, 1}, count, 10);
  const DataSubset odd(Block{5, 5}, count, 10);
  const DataSubset both = even + odd;
  EXPECT_EQ(both.blocks().size(), 2 * count);
  EXPECT_EQ(both - odd, even);
  EXPECT_EQ(both.bounded(10 * count), both);
  std::vector<Block> blocks = both.blocks();
  std::ranges::reverse(blocks);
  EXPECT_EQ(DataSubset(blocks), both);
}

}  // namespace
