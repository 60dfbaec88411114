#include "store/restore/restore_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace {

using mend::Block;
using mend::Holding;
using mend::Rank;
using mend::RestorePlan;
using mend::Stripe;
using mend::Version;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using CopyHolders = std::vector<std::optional<Rank>>;

const CopyHolders ring_of_4{Rank{1}, Rank{2}, Rank{3}, Rank{0}};

Holding holding(int holder, int owner, std::uint64_t version) {
  const auto size = static_cast<mend::ByteCount>(100 * owner + 7);
  return {Rank{holder}, Version{version}, Block::snapshot_of(Rank{owner}), size, {size}};
}

/// For copies that are with the given holders.
RestorePlan plan_restore(std::span<const Holding> inventory, const CopyHolders& holders) {
  std::vector<Stripe> stripes;
  for (const auto& holder : holders) {
    stripes.push_back({{Rank{static_cast<int>(stripes.size())}}, {}});
    if (holder) stripes.back().holders.push_back(*holder);
  }
  return mend::plan_restore({{inventory.begin(), inventory.end()}, {}}, stripes, static_cast<int>(holders.size()));
}

/// A snapshot that must be sent from one rank to another.
struct SnapshotTransfer {
  Rank from;
  Rank to;
  Rank owner;
  mend::ByteCount size = 0;
  bool operator==(const SnapshotTransfer&) const = default;
};

/// The transfers of a plan that only makes copies.
std::vector<SnapshotTransfer> transfers(const RestorePlan& plan) {
  std::vector<SnapshotTransfer> all;
  std::vector<mend::Combination> steps = plan.bring;
  steps.insert(steps.end(), plan.protect.begin(), plan.protect.end());
  for (const mend::Combination& step : steps) {
    EXPECT_TRUE(step.is_copy());
    EXPECT_EQ(step.target, step.sources.front().block);
    all.push_back({step.sources.front().from, step.to, step.target.owners.front(), step.length});
  }
  return all;
}

/// Every rank has its own snapshot and the one that it holds.
std::vector<Holding> complete(std::uint64_t version) {
  std::vector<Holding> all;
  for (int rank = 0; rank < 4; ++rank) {
    all.push_back(holding(rank, rank, version));
    all.push_back(holding((rank + 1) % 4, rank, version));
  }
  return all;
}

std::vector<Holding> without(std::vector<Holding> all, std::set<int> holders) {
  std::erase_if(all, [&](const Holding& h) { return holders.contains(h.holder.value); });
  return all;
}

TEST(RestorePlan, of_nothing_is_nothing) {
  const RestorePlan plan = plan_restore({}, ring_of_4);
  EXPECT_FALSE(plan.version);
  EXPECT_FALSE(plan.newest_seen);
  EXPECT_THAT(plan.missing, IsEmpty());
}

TEST(RestorePlan, moves_nothing_when_nothing_is_lost) {
  const RestorePlan plan = plan_restore(complete(3), ring_of_4);
  EXPECT_EQ(plan.version, Version{3});
  EXPECT_THAT(transfers(plan), IsEmpty());
}

TEST(RestorePlan, brings_a_newcomer_its_own_snapshot_and_then_the_copy_it_shall_hold) {
  const RestorePlan plan = plan_restore(without(complete(3), {2}), ring_of_4);
  EXPECT_EQ(plan.version, Version{3});
  EXPECT_EQ(plan.bring.size(), 1);
  EXPECT_EQ(plan.bring.front().target, mend::Block::snapshot_of(Rank{2}));
  EXPECT_EQ(plan.protect.size(), 1);
  EXPECT_EQ(plan.protect.front().target, mend::Block::snapshot_of(Rank{1}));
  EXPECT_THAT(transfers(plan), UnorderedElementsAre(SnapshotTransfer{Rank{1}, Rank{2}, Rank{1}, 107},
                                                    SnapshotTransfer{Rank{3}, Rank{2}, Rank{2}, 207}));
}

TEST(RestorePlan, goes_back_to_an_older_version_when_the_newest_is_not_whole) {
  auto inventory = without(complete(4), {1, 2});
  const auto older = complete(3);
  inventory.insert(inventory.end(), older.begin(), older.end());
  const RestorePlan plan = plan_restore(inventory, ring_of_4);
  EXPECT_EQ(plan.version, Version{3});
  EXPECT_EQ(plan.newest_seen, Version{4});
}

TEST(RestorePlan, names_whose_snapshot_is_missing) {
  const RestorePlan plan = plan_restore(without(complete(3), {1, 2}), ring_of_4);
  EXPECT_FALSE(plan.version);
  EXPECT_THAT(plan.missing, ElementsAre(Rank{1}));
  EXPECT_EQ(plan.newest_seen, Version{3});
}

TEST(RestorePlan, needs_no_holder_for_the_only_rank) {
  const Holding own[] = {holding(0, 0, 1)};
  const RestorePlan plan = plan_restore(own, CopyHolders{std::nullopt});
  EXPECT_EQ(plan.version, Version{1});
  EXPECT_THAT(transfers(plan), IsEmpty());
}

TEST(RestorePlan, takes_the_version_that_is_wanted_or_none) {
  auto inventory = complete(4);
  const auto older = complete(3);
  inventory.insert(inventory.end(), older.begin(), older.end());
  const auto wanted = [&](std::uint64_t version) {
    return mend::plan_restore({inventory, {}}, {}, 4, Version{version});
  };
  EXPECT_EQ(wanted(3).version, Version{3});
  EXPECT_EQ(wanted(4).version, Version{4});
  EXPECT_FALSE(wanted(5).version);
  EXPECT_FALSE(wanted(5).newest_seen);
}

/// Random jobs and random losses. The plan is judged by carrying it out.
class RandomRestore {
 public:
  explicit RandomRestore(unsigned seed) : random_(seed), size_(static_cast<int>(below(5)) + 1) {
    for (int rank = 0; rank < size_; ++rank) {
      if (size_ == 1) {
        holders_.push_back(std::nullopt);
      } else {
        holders_.push_back(Rank{(rank + 1 + static_cast<int>(below(static_cast<unsigned>(size_) - 1))) % size_});
      }
    }
    const unsigned fullness = below(9) + 1;
    for (int holder = 0; holder < size_; ++holder) {
      for (int owner = 0; owner < size_; ++owner) {
        for (std::uint64_t version : {5U, 6U}) {
          if (below(10) < fullness) inventory_.push_back(holding(holder, owner, version));
        }
      }
    }
    std::shuffle(inventory_.begin(), inventory_.end(), random_);
  }

  void check() const {
    const RestorePlan plan = plan_restore(inventory_, holders_);
    ASSERT_EQ(plan.version, newest_whole_version());
    if (plan.version) {
      check_transfers(plan);
    } else {
      ASSERT_THAT(transfers(plan), IsEmpty());
      check_missing(plan);
    }
  }

 private:
  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(random_);
  }

  bool somebody_has(int owner, Version version) const {
    return std::any_of(inventory_.begin(), inventory_.end(),
                       [&](const Holding& h) { return h.block.owners.front() == Rank{owner} && h.version == version; });
  }

  std::optional<Version> newest_whole_version() const {
    for (const Version version : {Version{6}, Version{5}}) {
      bool whole = true;
      for (int owner = 0; owner < size_; ++owner) whole = whole && somebody_has(owner, version);
      if (whole) return version;
    }
    return std::nullopt;
  }

  void check_transfers(const RestorePlan& plan) const {
    std::set<std::pair<Rank, Rank>> has;  // holder, owner
    for (const Holding& h : inventory_) {
      if (h.version == *plan.version) has.emplace(h.holder, h.block.owners.front());
    }
    const auto before = has;
    for (const SnapshotTransfer& transfer : transfers(plan)) {
      ASSERT_TRUE(before.contains({transfer.from, transfer.owner})) << "sends what it has from the start";
      ASSERT_TRUE(has.emplace(transfer.to, transfer.owner).second) << "is sent what it lacks, once";
      const bool wanted = transfer.to == transfer.owner || holder_of(transfer.owner) == transfer.to;
      ASSERT_TRUE(wanted) << "is sent what it needs";
      ASSERT_EQ(transfer.size, holding(0, transfer.owner.value, 1).sizes.front());
    }
    for (int owner = 0; owner < size_; ++owner) {
      ASSERT_TRUE(has.contains({Rank{owner}, Rank{owner}}));
      const auto holder = holder_of(Rank{owner});
      ASSERT_TRUE(!holder || has.contains({*holder, Rank{owner}}));
    }
  }

  void check_missing(const RestorePlan& plan) const {
    ASSERT_EQ(plan.newest_seen.has_value(), !inventory_.empty());
    if (!plan.newest_seen) return;
    std::vector<Rank> missing;
    for (int owner = 0; owner < size_; ++owner) {
      if (!somebody_has(owner, *plan.newest_seen)) missing.push_back(Rank{owner});
    }
    ASSERT_EQ(plan.missing, missing);
    ASSERT_FALSE(missing.empty());
  }

  std::optional<Rank> holder_of(Rank owner) const { return holders_[static_cast<std::size_t>(owner.value)]; }

  std::mt19937 random_;
  int size_;
  CopyHolders holders_;
  std::vector<Holding> inventory_;
};

TEST(RestorePlan, brings_everyone_what_it_needs_from_the_newest_whole_version_whatever_is_lost) {
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(seed);
    RandomRestore(seed).check();
    if (HasFatalFailure()) return;
  }
}

TEST(RestorePlan, does_not_ask_one_holder_for_everything) {
  // Ranks 0 and 1 have everything; 2, 3 and 4 nothing.
  std::vector<Holding> inventory;
  for (int holder : {0, 1}) {
    for (int owner = 0; owner < 5; ++owner) inventory.push_back(holding(holder, owner, 1));
  }
  const CopyHolders holders{Rank{1}, Rank{2}, Rank{3}, Rank{4}, Rank{0}};
  std::map<Rank, int> asked;
  for (const SnapshotTransfer& transfer : transfers(plan_restore(inventory, holders))) ++asked[transfer.from];
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_LE(std::abs(asked[Rank{0}] - asked[Rank{1}]), 1);
}

}  // namespace
