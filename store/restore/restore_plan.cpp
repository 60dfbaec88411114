#include "store/restore/restore_plan.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace mend {
namespace {

/// Pieces that have common parities.
struct CutStripe {
  std::vector<Rank> owners;
  ByteCount piece_length;
  auto operator<=>(const CutStripe&) const = default;
};

/// The remaining blocks of one version.
class Remains {
 public:
  explicit Remains(int ranks) : sizes_(static_cast<std::size_t>(ranks), 0) {}

  void add(const Holding& holding) {
    for (std::size_t i = 0; i < holding.sizes.size(); ++i) {
      sizes_[static_cast<std::size_t>(holding.block.owners[i].value)] = holding.sizes[i];
    }
    if (holding.block.is_snapshot()) {
      snapshots_[holding.block.owners.front()].push_back(holding.holder);
    } else {
      parities_[{holding.block.owners, holding.length}][holding.block.row].push_back(holding.holder);
    }
  }

  const Sizes& sizes() const { return sizes_; }

  bool has(Rank holder, const Block& block, ByteCount length) const {
    const std::vector<Rank>* holders =
        block.is_snapshot() ? holders_of(block.owners.front()) : parity_holders({block.owners, length}, block.row);
    return holders != nullptr && std::find(holders->begin(), holders->end(), holder) != holders->end();
  }

  /// Returns the ranks that have `owner`'s whole snapshot; null if there is none.
  const std::vector<Rank>* holders_of(Rank owner) const {
    const auto at = snapshots_.find(owner);
    return at == snapshots_.end() ? nullptr : &at->second;
  }

  /// Returns the stripes from which `owner`'s snapshot can be rebuilt, one for each of its pieces; empty if that is not
  /// possible.
  std::vector<const CutStripe*> stripes_for(Rank owner) const {
    // Placements before and after a failure may cut a snapshot differently.
    std::map<std::pair<std::size_t, ByteCount>, std::map<std::ptrdiff_t, const CutStripe*>> cuts;
    for (const auto& [stripe, parities] : parities_) {
      const auto at = std::find(stripe.owners.begin(), stripe.owners.end(), owner);
      if (at == stripe.owners.end() || parts_of(stripe).size() < stripe.owners.size()) continue;
      cuts[{stripe.owners.size(), stripe.piece_length}][at - stripe.owners.begin()] = &stripe;
    }
    for (const auto& [cut, pieces] : cuts) {
      if (pieces.size() < cut.first) continue;
      std::vector<const CutStripe*> stripes;
      for (const auto& [index, stripe] : pieces) stripes.push_back(stripe);
      return stripes;
    }
    return {};
  }

  bool can_have(Rank owner) const { return holders_of(owner) != nullptr || !stripes_for(owner).empty(); }

  /// Returns the remaining parts of a stripe. Pieces are first, because they need no arithmetic elsewhere.
  std::vector<StripePart> parts_of(const CutStripe& stripe) const {
    std::vector<StripePart> parts;
    for (std::size_t i = 0; i < stripe.owners.size(); ++i) {
      if (holders_of(stripe.owners[i]) != nullptr) parts.push_back({false, static_cast<int>(i)});
    }
    for (const auto& [row, holders] : parities_.at(stripe)) parts.push_back({true, row});
    return parts;
  }

  /// Returns the ranks that have a parity; null if there is none.
  const std::vector<Rank>* parity_holders(const CutStripe& stripe, int row) const {
    const auto rows = parities_.find(stripe);
    if (rows == parities_.end()) return nullptr;
    const auto holders = rows->second.find(row);
    return holders == rows->second.end() ? nullptr : &holders->second;
  }

 private:
  Sizes sizes_;
  std::map<Rank, std::vector<Rank>> snapshots_;
  std::map<CutStripe, std::map<int, std::vector<Rank>>> parities_;  // holders by row
};

/// Makes the plan for a version that is complete.
class Planner {
 public:
  Planner(const Remains& remains, RestorePlan& plan) : remains_(remains), plan_(plan) { plan.sizes = remains.sizes(); }

  void bring_to_owner(Rank owner) {
    if (remains_.has(owner, Block::snapshot_of(owner), 0)) return;
    if (remains_.holders_of(owner) != nullptr) {
      plan_.bring.push_back(copy(owner, choose_source(owner), owner, plan_.sizes));
    } else {
      rebuild(owner, owner);
    }
  }

  void bring_to_holder(const Stripe& stripe, std::size_t row) {
    const Rank holder = stripe.holders[row];
    if (remains_.has(holder, kept_block(stripe, row), kept_bytes(stripe, plan_.sizes))) return;
    if (stripe.owners.size() == 1 && remains_.holders_of(stripe.owners.front()) != nullptr) {
      plan_.protect.push_back(copy(stripe.owners.front(), choose_source(stripe.owners.front()), holder, plan_.sizes));
    } else {
      plan_.protect.push_back(encode(stripe, row, plan_.sizes));
    }
  }

  /// Adds steps in which `to` computes the snapshot of `owner`, piece by piece.
  void rebuild(Rank owner, Rank to) {
    const auto stripes = remains_.stripes_for(owner);
    for (std::size_t index = 0; index < stripes.size(); ++index) {
      const CutStripe& stripe = *stripes[index];
      const Source wanted = piece(owner, index, stripe.piece_length, to, plan_.sizes);
      if (wanted.length == 0) continue;
      Combination made{
          to, wanted.block, plan_.sizes[static_cast<std::size_t>(owner.value)], wanted.offset, wanted.length, {}};
      std::vector<StripePart> parts = remains_.parts_of(stripe);
      parts.resize(stripe.owners.size());
      const std::vector<Coefficient> coefficients = coefficients_for(static_cast<int>(index), parts);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        Source source = source_of(parts[i], stripe);
        source.length = std::min(source.length, wanted.length);
        source.coefficient = coefficients[i];
        if (source.length > 0) made.sources.push_back(std::move(source));
      }
      plan_.bring.push_back(std::move(made));
    }
  }

 private:
  /// Chooses the rank that sends a snapshot: its owner if possible, otherwise the holder that was chosen least often.
  Rank choose_source(Rank owner) {
    const std::vector<Rank>& holders = *remains_.holders_of(owner);
    const auto key = [&](Rank holder) { return std::tuple(holder != owner, asked_[holder], holder); };
    const Rank chosen =
        *std::min_element(holders.begin(), holders.end(), [&](Rank a, Rank b) { return key(a) < key(b); });
    ++asked_[chosen];
    return chosen;
  }

  Source source_of(StripePart part, const CutStripe& stripe) {
    if (part.parity) {
      return {remains_.parity_holders(stripe, part.index)->front(), Block{stripe.owners, part.index}, 0,
              stripe.piece_length};
    }
    const auto index = static_cast<std::size_t>(part.index);
    const Rank owner = stripe.owners[index];
    return piece(owner, index, stripe.piece_length, choose_source(owner), plan_.sizes);
  }

  const Remains& remains_;
  RestorePlan& plan_;
  std::map<Rank, int> asked_;
};

}  // namespace

namespace {

/// Newest first.
using Versions = std::map<Version, Remains, std::greater<>>;

Versions remains_of(const Inventory& inventory, int ranks, std::optional<Version> wanted) {
  Versions versions;
  for (const Version version : inventory.versions()) {
    if (!wanted || version == *wanted) versions.try_emplace(version, ranks);
  }
  for (const Holding& holding : inventory.holdings) {
    if (const auto at = versions.find(holding.version); at != versions.end()) at->second.add(holding);
  }
  return versions;
}

/// Stores in `plan` the version to restore or, if there is none, the ranks whose snapshots are missing. Returns the
/// remaining blocks of that version.
const Remains* choose_version(const Versions& versions, int ranks, RestorePlan& plan) {
  const auto missing_from = [&](const Remains& remains) {
    std::vector<Rank> missing;
    for (int rank = 0; rank < ranks; ++rank) {
      if (!remains.can_have(Rank{rank})) missing.push_back(Rank{rank});
    }
    return missing;
  };
  if (versions.empty()) return nullptr;
  plan.newest_seen = versions.begin()->first;
  const auto complete = std::find_if(versions.begin(), versions.end(),
                                     [&](const auto& entry) { return missing_from(entry.second).empty(); });
  if (complete == versions.end()) {
    plan.missing = missing_from(versions.begin()->second);
    return nullptr;
  }
  plan.version = complete->first;
  return &complete->second;
}

}  // namespace

std::set<Version> Inventory::versions() const {
  std::set<Version> all = committed;
  for (const Holding& holding : holdings) all.insert(holding.version);
  return all;
}

void Inventory::keep_only(Version version) {
  std::erase_if(holdings, [&](const Holding& holding) { return holding.version != version; });
  std::erase_if(committed, [&](Version one) { return one != version; });
}

RestorePlan plan_restore(const Inventory& inventory, std::span<const Stripe> stripes, int ranks,
                         std::optional<Version> wanted) {
  const Versions versions = remains_of(inventory, ranks, wanted);
  RestorePlan plan;
  const Remains* remains = choose_version(versions, ranks, plan);
  if (remains == nullptr) return plan;
  Planner planner(*remains, plan);
  for (int rank = 0; rank < ranks; ++rank) planner.bring_to_owner(Rank{rank});
  for (const Stripe& stripe : stripes) {
    for (std::size_t row = 0; row < stripe.holders.size(); ++row) planner.bring_to_holder(stripe, row);
  }
  return plan;
}

GatheringPlan plan_gathering(const Inventory& inventory, int ranks_then, int ranks_now, std::optional<Version> wanted) {
  const Versions versions = remains_of(inventory, ranks_then, wanted);
  GatheringPlan plan;
  const Remains* remains = choose_version(versions, ranks_then, plan.restore);
  if (remains == nullptr) return plan;
  Planner planner(*remains, plan.restore);
  for (int owner = 0; owner < ranks_then; ++owner) {
    if (const std::vector<Rank>* holders = remains->holders_of(Rank{owner})) {
      plan.holders.push_back(*holders);
      continue;
    }
    const Rank to{owner % ranks_now};
    planner.rebuild(Rank{owner}, to);
    plan.holders.push_back({to});
  }
  return plan;
}

}  // namespace mend
