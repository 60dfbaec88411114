// The losses that each scheme survives. The groups are small enough to kill every subset of their ranks. Commits and
// restores are carried out in the memory of this process, step by step as the plans say.

#include "store/restore/restore_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

namespace {

using mend::Block;
using mend::ByteCount;
using mend::Combination;
using mend::Holding;
using mend::NodeId;
using mend::Rank;
using mend::Redundancy;
using mend::RestorePlan;
using mend::Sizes;
using mend::Stripe;
using mend::Version;

using mend::Bytes;

constexpr Version committed_version{7};

/// Ranks that hold blocks, without MPI.
class SimulatedRanks {
 public:
  SimulatedRanks(const char* redundancy, std::vector<NodeId> nodes)
      : redundancy_(Redundancy::parse(redundancy)), stripes_(place(redundancy_, nodes)) {
    std::mt19937 random(static_cast<unsigned>(nodes.size()));
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      Bytes snapshot(std::uniform_int_distribution<std::size_t>(1, 400)(random));
      for (std::byte& byte : snapshot) byte = static_cast<std::byte>(random());
      sizes_.push_back(snapshot.size());
      snapshots_.push_back(std::move(snapshot));
    }
  }

  int size() const { return static_cast<int>(snapshots_.size()); }
  const std::vector<Stripe>& stripes() const { return stripes_; }
  void move_to(const std::vector<NodeId>& nodes) { stripes_ = place(redundancy_, nodes); }

  void commit() {
    kept_.clear();
    for (int rank = 0; rank < size(); ++rank) {
      kept_[{Rank{rank}, Block::snapshot_of(Rank{rank})}] = snapshots_[static_cast<std::size_t>(rank)];
    }
    std::vector<Combination> work;
    for (const Stripe& stripe : stripes_) {
      for (std::size_t row = 0; row < stripe.holders.size(); ++row) work.push_back(encode(stripe, row, sizes_));
    }
    carry_out(work);
  }

  void lose(const std::set<Rank>& dead) {
    std::erase_if(kept_, [&](const auto& entry) { return dead.contains(entry.first.first); });
  }
  void lose(Rank holder, const Block& block) { ASSERT_EQ(kept_.erase({holder, block}), 1U); }

  RestorePlan restore() {
    std::vector<Holding> inventory;
    for (const auto& [where, bytes] : kept_) {
      inventory.push_back({where.first, committed_version, where.second, bytes.size(), sizes_of(where.second, sizes_)});
    }
    RestorePlan plan = plan_restore({inventory, {}}, stripes_, size());
    carry_out(plan.bring);
    carry_out(plan.protect);
    return plan;
  }

  /// Every rank has its snapshot, and all blocks are where they are placed.
  void expect_whole() const {
    for (int rank = 0; rank < size(); ++rank) {
      ASSERT_EQ(at(Rank{rank}, Block::snapshot_of(Rank{rank})), snapshots_[static_cast<std::size_t>(rank)])
          << "of rank " << rank;
    }
    SimulatedRanks fresh = *this;
    fresh.commit();
    for (const auto& [where, bytes] : fresh.kept_) ASSERT_EQ(at(where.first, where.second), bytes);
  }

  const auto& kept() const { return kept_; }

 private:
  const Bytes& at(Rank holder, const Block& block) const {
    static const Bytes nothing;
    const auto found = kept_.find({holder, block});
    return found == kept_.end() ? nothing : found->second;
  }

  /// Carries out all steps at once, as messages do: no step sees the result of another.
  void carry_out(const std::vector<Combination>& work) {
    const auto before = kept_;
    for (const Combination& step : work) {
      Bytes& target = kept_[{step.to, step.target}];
      target.resize(step.whole);
      std::vector<Bytes> arrived;
      std::vector<mend::Term> terms;
      arrived.reserve(step.sources.size());
      for (const mend::Source& source : step.sources) {
        const auto& from = before.at({source.from, source.block});
        arrived.emplace_back(step.length, std::byte{});
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source.offset), source.length, arrived.back().begin());
        terms.push_back({arrived.back(), source.coefficient});
      }
      combine(terms, std::span(target).subspan(step.offset, step.length));
    }
  }

  Redundancy redundancy_;
  std::vector<Stripe> stripes_;
  std::vector<Bytes> snapshots_;
  Sizes sizes_;
  std::map<std::pair<Rank, Block>, Bytes> kept_;
};

std::set<Rank> members(unsigned set) {
  std::set<Rank> all;
  for (int rank = 0; rank < 32; ++rank) {
    if ((set >> rank & 1U) != 0) all.insert(Rank{rank});
  }
  return all;
}

/// Returns true if the scheme's row in the table (store/redundancy.hpp) promises that these losses are survived.
using Promise = std::function<bool(const std::set<Rank>&)>;

struct Row {
  const char* redundancy;
  std::vector<NodeId> nodes;
  Promise promise;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.redundancy << " on " << row.nodes.size() << " ranks"; }

std::vector<NodeId> one_node(std::size_t ranks) { return std::vector<NodeId>(ranks); }
std::vector<NodeId> own_nodes(std::size_t ranks) {
  std::vector<NodeId> nodes(ranks);
  for (std::size_t i = 0; i < ranks; ++i) nodes[i] = NodeId{static_cast<std::uint32_t>(i)};
  return nodes;
}

Promise nobody() {
  return [](const std::set<Rank>& dead) { return dead.empty(); };
}
/// Of every rank, the rank itself or one of the next `copies` ranks must live.
Promise ring(int ranks, int copies) {
  return [=](const std::set<Rank>& dead) {
    for (int rank = 0; rank < ranks; ++rank) {
      bool lives = false;
      for (int i = 0; i <= copies; ++i) lives = lives || !dead.contains(Rank{(rank + i) % ranks});
      if (!lives) return false;
    }
    return true;
  };
}
/// At most `losses` ranks may die in each of the groups, to which ranks are dealt in turn.
Promise at_most(std::size_t losses, int groups) {
  return [=](const std::set<Rank>& dead) {
    std::map<int, std::size_t> of_group;
    for (const Rank rank : dead) ++of_group[rank.value % groups];
    return std::all_of(of_group.begin(), of_group.end(), [&](const auto& count) { return count.second <= losses; });
  };
}

class Survival : public testing::TestWithParam<Row> {};

TEST_P(Survival, is_exactly_what_the_table_promises_whoever_dies) {
  SimulatedRanks ranks(GetParam().redundancy, GetParam().nodes);
  ranks.commit();
  for (unsigned set = 0; set < 1U << ranks.size(); ++set) {
    const std::set<Rank> dead = members(set);
    SCOPED_TRACE(testing::PrintToString(set));
    ASSERT_EQ(lost_with(dead, ranks.stripes()).empty(), GetParam().promise(dead));
    SimulatedRanks job = ranks;
    job.lose(dead);
    const RestorePlan plan = job.restore();
    if (GetParam().promise(dead)) {
      ASSERT_EQ(plan.version, committed_version);
      job.expect_whole();
    } else if (static_cast<int>(dead.size()) < job.size()) {
      ASSERT_FALSE(plan.version);
      ASSERT_EQ(plan.newest_seen, committed_version);
      const auto lost = lost_with(dead, ranks.stripes());
      ASSERT_EQ(plan.missing, std::vector<Rank>(lost.begin(), lost.end()));
    }
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, Survival,
    testing::Values(Row{"local", one_node(3), nobody()}, Row{"partner", one_node(2), ring(2, 1)},
                    Row{"partner", one_node(7), ring(7, 1)}, Row{"replicas:2", one_node(3), ring(3, 2)},
                    Row{"replicas:2", own_nodes(7), ring(7, 2)}, Row{"replicas:3", one_node(6), ring(6, 3)},
                    Row{"xor:3", one_node(3), at_most(1, 1)}, Row{"xor:4", own_nodes(9), at_most(1, 2)},
                    Row{"xor:3", one_node(10), at_most(1, 3)}, Row{"rs:2+2", one_node(5), at_most(2, 1)},
                    Row{"rs:4+2", one_node(6), at_most(2, 1)}, Row{"rs:3+2", own_nodes(11), at_most(2, 2)},
                    Row{"rs:3+3", one_node(7), at_most(3, 1)}));

TEST(AfterAFailure, what_was_placed_otherwise_before_is_found_and_placed_anew) {
  std::mt19937 random(1);
  const auto random_nodes = [&] {
    std::vector<NodeId> nodes(8);
    for (NodeId& node : nodes) node = NodeId{std::uniform_int_distribution<std::uint32_t>(0, 3)(random)};
    return nodes;
  };
  for (const char* redundancy : {"partner", "replicas:2", "xor:3", "xor:4", "rs:2+2", "rs:4+2"}) {
    for (int round = 0; round < 50; ++round) {
      SCOPED_TRACE(testing::Message() << redundancy << ", round " << round);
      SimulatedRanks job(redundancy, random_nodes());
      job.commit();
      // One rank after another dies, and its successor is on another node each time.
      for (int rank = 0; rank < job.size(); ++rank) {
        job.lose(std::set<Rank>{Rank{rank}});
        job.move_to(random_nodes());
        ASSERT_EQ(job.restore().version, committed_version);
        job.expect_whole();
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ADamagedBlock, is_made_again_from_the_others_whichever_it_is) {
  for (const char* redundancy : {"partner", "replicas:2", "xor:3", "rs:4+2"}) {
    SimulatedRanks ranks(redundancy, one_node(7));
    ranks.commit();
    for (const auto& [where, bytes] : ranks.kept()) {
      SimulatedRanks job = ranks;
      job.lose(where.first, where.second);
      ASSERT_EQ(job.restore().version, committed_version);
      job.expect_whole();
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
