#include "store/placement.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace {

using mend::choose_holders;
using mend::NodeId;
using mend::Rank;
using testing::ElementsAre;

std::vector<std::optional<Rank>> holders(const std::vector<std::uint32_t>& numbers) {
  std::vector<NodeId> nodes;
  for (std::uint32_t number : numbers) nodes.push_back({number});
  return choose_holders(nodes);
}

TEST(Holders, on_one_node_are_the_next_ranks_round_the_ring) {
  EXPECT_THAT(holders({0, 0, 0, 0}), ElementsAre(Rank{1}, Rank{2}, Rank{3}, Rank{0}));
  EXPECT_THAT(holders({0, 0}), ElementsAre(Rank{1}, Rank{0}));
}

TEST(Holders, there_is_none_for_the_only_rank) { EXPECT_THAT(holders({0}), ElementsAre(std::nullopt)); }

TEST(Holders, are_on_the_other_node_of_two) {
  EXPECT_THAT(holders({0, 0, 1, 1}), ElementsAre(Rank{2}, Rank{3}, Rank{0}, Rank{1}));
  EXPECT_THAT(holders({0, 1, 0, 1}), ElementsAre(Rank{1}, Rank{0}, Rank{3}, Rank{2}));
}

TEST(Holders, of_no_ranks_are_none) { EXPECT_TRUE(choose_holders({}).empty()); }

/// The least that the busiest rank must hold: a node's copies all go to the ranks of the others.
int least_load(const std::vector<std::uint32_t>& nodes) {
  std::map<std::uint32_t, int> counts;
  for (std::uint32_t node : nodes) ++counts[node];
  const int size = static_cast<int>(nodes.size());
  int least = 1;
  for (const auto& [node, count] : counts) {
    if (count < size) least = std::max(least, (count + size - count - 1) / (size - count));
  }
  return least;
}

TEST(Holders, are_on_other_nodes_and_hold_as_few_copies_as_that_allows) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const auto size = std::uniform_int_distribution<std::size_t>(2, 16)(random);
    const auto node_count = std::uniform_int_distribution<std::uint32_t>(1, 6)(random);
    std::vector<std::uint32_t> nodes(size);
    // Skewed, so that often one node has more than half of all ranks.
    for (std::uint32_t& node : nodes) {
      node = std::min(std::uniform_int_distribution<std::uint32_t>(0, node_count - 1)(random),
                      std::uniform_int_distribution<std::uint32_t>(0, node_count - 1)(random));
    }
    SCOPED_TRACE(testing::PrintToString(nodes));
    const bool one_node = std::all_of(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return n == nodes.front(); });
    const auto chosen = holders(nodes);
    ASSERT_EQ(chosen.size(), size);
    std::vector<int> load(size, 0);
    for (std::size_t owner = 0; owner < size; ++owner) {
      ASSERT_TRUE(chosen[owner]);
      const auto holder = static_cast<std::size_t>(chosen[owner]->value);
      ASSERT_LT(holder, size);
      ASSERT_NE(holder, owner);
      ASSERT_TRUE(one_node || nodes[holder] != nodes[owner]);
      ++load[holder];
    }
    ASSERT_EQ(*std::max_element(load.begin(), load.end()), least_load(nodes));
  }
}

}  // namespace
