#include "store/placement/placement.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace {

using mend::NodeId;
using mend::place;
using mend::Rank;
using mend::Redundancy;
using mend::Stripe;
using testing::ElementsAre;
using testing::IsEmpty;

using Ranks = std::vector<Rank>;

std::vector<Stripe> placed(const char* redundancy, const std::vector<std::uint32_t>& numbers) {
  std::vector<NodeId> nodes;
  for (std::uint32_t number : numbers) nodes.push_back({number});
  return place(Redundancy::parse(redundancy), nodes);
}

/// The holders of each rank's copies.
std::vector<Ranks> holders(const std::vector<std::uint32_t>& nodes, const char* redundancy = "partner") {
  std::vector<Ranks> all;
  for (const Stripe& stripe : placed(redundancy, nodes)) {
    EXPECT_EQ(stripe.owners, Ranks{Rank{static_cast<int>(all.size())}});
    all.push_back(stripe.holders);
  }
  return all;
}

TEST(Holders, on_one_node_are_the_next_ranks_round_the_ring) {
  EXPECT_THAT(holders({0, 0, 0, 0}), ElementsAre(Ranks{{1}}, Ranks{{2}}, Ranks{{3}}, Ranks{{0}}));
  EXPECT_THAT(holders({0, 0}), ElementsAre(Ranks{{1}}, Ranks{{0}}));
  EXPECT_THAT(holders({0, 0, 0}, "replicas:2"), ElementsAre(Ranks{{1}, {2}}, Ranks{{2}, {0}}, Ranks{{0}, {1}}));
}

TEST(Holders, there_is_none_for_the_only_rank) { EXPECT_THAT(holders({0}), ElementsAre(IsEmpty())); }

TEST(Holders, there_are_none_when_data_stays_local) {
  EXPECT_THAT(holders({0, 1, 2}, "local"), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(Holders, are_on_the_other_node_of_two) {
  EXPECT_THAT(holders({0, 0, 1, 1}), ElementsAre(Ranks{{2}}, Ranks{{3}}, Ranks{{0}}, Ranks{{1}}));
  EXPECT_THAT(holders({0, 1, 0, 1}), ElementsAre(Ranks{{1}}, Ranks{{0}}, Ranks{{3}}, Ranks{{2}}));
}

TEST(Holders, of_no_ranks_are_none) { EXPECT_THAT(holders({}), IsEmpty()); }

/// The smallest possible load of the busiest rank, if all copies of a node's ranks go to the other nodes.
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

/// Nodes of very different sizes; often one has more than half of all ranks.
std::vector<std::uint32_t> random_nodes(std::mt19937& random) {
  const auto size = std::uniform_int_distribution<std::size_t>(2, 16)(random);
  const auto node_count = std::uniform_int_distribution<std::uint32_t>(1, 6)(random);
  std::vector<std::uint32_t> nodes(size);
  std::uniform_int_distribution<std::uint32_t> any(0, node_count - 1);
  for (std::uint32_t& node : nodes) node = std::min(any(random), any(random));
  return nodes;
}

TEST(Holders, are_on_other_nodes_and_hold_as_few_copies_as_that_allows) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const auto nodes = random_nodes(random);
    SCOPED_TRACE(testing::PrintToString(nodes));
    const bool one_node = std::all_of(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return n == nodes.front(); });
    const auto chosen = holders(nodes);
    ASSERT_EQ(chosen.size(), nodes.size());
    std::vector<int> load(nodes.size(), 0);
    for (std::size_t owner = 0; owner < nodes.size(); ++owner) {
      ASSERT_EQ(chosen[owner].size(), 1U);
      const auto holder = static_cast<std::size_t>(chosen[owner].front().value);
      ASSERT_LT(holder, nodes.size());
      ASSERT_NE(holder, owner);
      ASSERT_TRUE(one_node || nodes[holder] != nodes[owner]);
      ++load[holder];
    }
    ASSERT_EQ(*std::max_element(load.begin(), load.end()), least_load(nodes));
  }
}

TEST(Holders, of_several_copies_are_on_as_many_nodes_as_there_are) {
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    const auto nodes = random_nodes(random);
    const std::size_t copies =
        std::uniform_int_distribution<std::size_t>(1, std::min<std::size_t>(4, nodes.size() - 1))(random);
    SCOPED_TRACE(testing::PrintToString(nodes) + " with copies: " + std::to_string(copies));
    const auto chosen = holders(nodes, ("replicas:" + std::to_string(copies)).c_str());
    const std::set<std::uint32_t> all_nodes(nodes.begin(), nodes.end());
    for (std::size_t owner = 0; owner < nodes.size(); ++owner) {
      std::set<Rank> different(chosen[owner].begin(), chosen[owner].end());
      ASSERT_EQ(different.size(), copies);
      ASSERT_FALSE(different.contains(Rank{static_cast<int>(owner)}));
      std::set<std::uint32_t> used;
      std::size_t at_home = 0;
      for (const Rank holder : chosen[owner]) {
        const std::uint32_t node = nodes[static_cast<std::size_t>(holder.value)];
        used.insert(node);
        at_home += node == nodes[owner] ? 1 : 0;
      }
      used.erase(nodes[owner]);
      ASSERT_EQ(used.size(), std::min(copies, all_nodes.size() - 1));
      const auto elsewhere = static_cast<std::size_t>(
          std::count_if(nodes.begin(), nodes.end(), [&](auto n) { return n != nodes[owner]; }));
      ASSERT_EQ(at_home, copies - std::min(copies, elsewhere)) << "a copy at home though there is room elsewhere";
    }
  }
}

TEST(Groups, have_stripes_that_begin_at_each_member) {
  EXPECT_THAT(placed("xor:3", {0, 0, 0}),
              ElementsAre(Stripe{{{1}, {2}}, {{0}}}, Stripe{{{2}, {0}}, {{1}}}, Stripe{{{0}, {1}}, {{2}}}));
}

TEST(Groups, are_larger_when_ranks_do_not_divide_evenly) {
  const auto stripes = placed("xor:3", {0, 0, 0, 0, 0});
  ASSERT_EQ(stripes.size(), 5U);
  for (const Stripe& stripe : stripes) {
    EXPECT_EQ(stripe.owners.size(), 4U);
    EXPECT_EQ(stripe.holders.size(), 1U);
  }
}

TEST(Groups, of_too_few_ranks_are_refused) {
  EXPECT_THROW(placed("xor:4", {0, 0, 0}), mend::UsageError);
  EXPECT_THROW(placed("rs:4+2", {0, 1, 2, 3, 4}), mend::UsageError);
}

TEST(Groups, give_every_rank_one_piece_of_each_index_and_one_parity_of_each_row) {
  for (const char* redundancy : {"xor:3", "xor:5", "rs:2+2", "rs:3+2", "rs:4+2"}) {
    for (std::size_t size = 6; size <= 14; ++size) {
      SCOPED_TRACE(testing::Message() << redundancy << " of " << size);
      std::map<std::pair<Rank, std::size_t>, int> pieces;
      std::map<std::pair<Rank, std::size_t>, int> parities;
      std::map<Rank, std::size_t> cut;
      for (const Stripe& stripe : placed(redundancy, std::vector<std::uint32_t>(size))) {
        for (std::size_t i = 0; i < stripe.owners.size(); ++i) ++pieces[{stripe.owners[i], i}];
        for (std::size_t j = 0; j < stripe.holders.size(); ++j) ++parities[{stripe.holders[j], j}];
        for (const Rank owner : stripe.owners) cut[owner] = stripe.owners.size();
      }
      const auto parity = static_cast<std::size_t>(Redundancy::parse(redundancy).parity);
      for (int rank = 0; rank < static_cast<int>(size); ++rank) {
        for (std::size_t i = 0; i < cut[Rank{rank}]; ++i) ASSERT_EQ((pieces[{Rank{rank}, i}]), 1);
        for (std::size_t j = 0; j < parity; ++j) ASSERT_EQ((parities[{Rank{rank}, j}]), 1);
      }
    }
  }
}

TEST(Groups, are_spread_over_nodes_as_long_as_no_node_has_more_ranks_than_there_are_groups) {
  std::mt19937 random(3);
  int checked = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto nodes = random_nodes(random);
    if (nodes.size() < 3) continue;
    std::map<std::uint32_t, std::size_t> counts;
    for (std::uint32_t node : nodes) ++counts[node];
    const bool possible =
        std::all_of(counts.begin(), counts.end(), [&](const auto& c) { return c.second <= nodes.size() / 3; });
    if (!possible) continue;
    ++checked;
    for (const Stripe& stripe : placed("xor:3", nodes)) {
      std::set<std::uint32_t> used;
      for (const auto& ranks : {stripe.owners, stripe.holders}) {
        for (const Rank rank : ranks) ASSERT_TRUE(used.insert(nodes[static_cast<std::size_t>(rank.value)]).second);
      }
    }
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
