// The transfers when arrays go to other ranks than before.

#include "base/error.hpp"
#include "store/restore/redistribution.hpp"

#include <gmock/gmock.h>

#include <map>
#include <algorithm>
#include <random>

namespace {

using mend::ArrayPart;
using mend::Extents;
using mend::Holders;
using mend::Parts;
using mend::Rank;
using mend::Transfer;

std::vector<Parts> rows(int ranks, std::size_t whole, std::size_t columns) {
  std::vector<Parts> all;
  const auto begin = [&](int rank) { return whole * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks); };
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back({{"u", {"uint8", {begin(rank + 1) - begin(rank), columns}, {begin(rank), 0}, {whole, columns}}}});
  }
  return all;
}

/// Expects that every element that a rank wants reaches it once, from a rank that keeps it.
void expect_served(const std::vector<Transfer>& transfers, const std::vector<Parts>& stored, const Holders& holders,
                   const std::vector<Parts>& wanted) {
  std::vector<std::map<std::size_t, int>> received(wanted.size());
  for (const Transfer& transfer : transfers) {
    const auto owner = static_cast<std::size_t>(transfer.owner.value);
    const auto to = static_cast<std::size_t>(transfer.to.value);
    EXPECT_THAT(holders[owner], testing::Contains(transfer.from));
    const mend::Runs runs = mend::runs_of(wanted[to].at("u"), transfer.what.in_second, transfer.what.extents);
    for (const std::size_t offset : runs.offsets) {
      for (std::size_t i = 0; i < runs.length; ++i) ++received[to][offset + i];
    }
    for (std::size_t axis = 0; axis < transfer.what.extents.size(); ++axis) {
      EXPECT_EQ(stored[owner].at("u").offset[axis] + transfer.what.in_first[axis],
                wanted[to].at("u").offset[axis] + transfer.what.in_second[axis]);
    }
  }
  for (std::size_t to = 0; to < wanted.size(); ++to) {
    EXPECT_EQ(received[to].size(), wanted[to].at("u").bytes());
    for (const auto& [at, times] : received[to]) ASSERT_EQ(times, 1);
  }
}

TEST(Redistribution, serves_every_element_once_to_fewer_ranks_and_to_more) {
  std::mt19937 random(3);
  for (const int then : {1, 2, 4, 7}) {
    for (const int now : {1, 2, 3, 6}) {
      Holders holders(static_cast<std::size_t>(then));
      for (auto& who : holders) {
        for (int rank = 0; rank < now; ++rank) {
          if (who.empty() || random() % 2 == 0)
            who.push_back(
                Rank{static_cast<int>((random() % 5 + static_cast<unsigned>(rank)) % static_cast<unsigned>(now))});
        }
        std::sort(who.begin(), who.end());
        who.erase(std::unique(who.begin(), who.end()), who.end());
      }
      for (const std::size_t slab : {std::size_t{1}, std::size_t{1} << 20}) {
        const auto transfers = mend::plan_redistribution(rows(then, 23, 3), holders, rows(now, 23, 3), slab);
        expect_served(transfers, rows(then, 23, 3), holders, rows(now, 23, 3));
      }
    }
  }
}

TEST(Redistribution, sends_nothing_that_a_rank_keeps_itself) {
  const Holders holders{{Rank{0}}, {Rank{0}, Rank{1}}};
  for (const Transfer& transfer : mend::plan_redistribution(rows(2, 10, 1), holders, rows(2, 10, 1))) {
    EXPECT_EQ(transfer.from, transfer.to);
  }
}

TEST(Redistribution, asks_all_who_keep_something_for_about_as_much) {
  // Ten earlier ranks, each kept by three of the present ones, and one newcomer that needs all data.
  const int now = 10;
  Holders holders;
  for (int owner = 0; owner < now; ++owner)
    holders.push_back({Rank{owner}, Rank{(owner + 1) % now}, Rank{(owner + 2) % now}});
  std::vector<Parts> wanted(static_cast<std::size_t>(now));
  wanted.push_back({{"u", {"uint8", {1000, 1}, {0, 0}, {1000, 1}}}});
  std::map<Rank, std::size_t> sent;
  for (const Transfer& transfer : mend::plan_redistribution(rows(now, 1000, 1), holders, wanted, 10))
    sent[transfer.from] += transfer.what.extents[0];
  ASSERT_EQ(sent.size(), 10U);
  for (const auto& [rank, elements] : sent) EXPECT_NEAR(static_cast<double>(elements), 100.0, 40.0) << rank.value;
}

TEST(Redistribution, refuses_what_there_was_not) {
  const Holders holders{{Rank{0}}};
  const std::vector<Parts> stored{{{"u", {"uint8", {4}, {0}, {8}}}}};
  const auto plan = [&](const ArrayPart& part, const char* name = "u") {
    return mend::plan_redistribution(stored, holders, {{{name, part}}});
  };
  EXPECT_EQ(plan({"uint8", {4}, {0}, {8}}).size(), 1U);
  EXPECT_THROW(plan({"uint8", {4}, {0}, {8}}, "v"), mend::UsageError) << "no such array";
  EXPECT_THROW(plan({"uint8", {4}, {0}, {9}}), mend::UsageError) << "another array";
  EXPECT_THROW(plan({"int8", {4}, {0}, {8}}), mend::UsageError) << "of other elements";
  EXPECT_THROW(plan({"uint8", {4}, {2}, {8}}), mend::UsageError) << "elements that nobody had";
}

TEST(Redistribution, has_nothing_to_send_of_an_array_without_elements) {
  const Holders holders{{Rank{0}}, {Rank{1}}};
  const Parts nothing{{"u", {"uint8", {0, 3}, {0, 0}, {0, 3}}}};
  EXPECT_TRUE(mend::plan_redistribution({nothing, nothing}, holders, {nothing}).empty());
  const Parts something{{"u", {"uint8", {1, 3}, {0, 0}, {1, 3}}}};
  try {
    mend::plan_redistribution({nothing, nothing}, holders, {something});
    ADD_FAILURE() << "an array of another size";
  } catch (const mend::UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("but was committed as a uint8 array [0,0] at [0,0] of [0,3]"));
  }
}

TEST(Redistribution, refuses_a_gap_that_parts_leave_which_overlap_elsewhere) {
  const Holders holders{{Rank{0}}, {Rank{0}}, {Rank{0}}};
  const std::vector<Parts> stored(3, Parts{{"u", {"uint8", {12}, {0}, {20}}}});
  EXPECT_THROW(mend::plan_redistribution(stored, holders, {{{"u", {"uint8", {20}, {0}, {20}}}}}), mend::UsageError);
  EXPECT_NO_THROW(mend::plan_redistribution(stored, holders, {{{"u", {"uint8", {12}, {0}, {20}}}}}));
}

}  // namespace
