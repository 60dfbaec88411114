// Deciding, after a failure, which version to go back to and who makes what out of what. Pure: every rank computes the
// same plan from the same inventory.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/block.hpp"
#include "store/placement/combination.hpp"
#include "store/placement/placement.hpp"

#include <optional>
#include <set>
#include <span>
#include <vector>

namespace mend {

/// "`keeper` has this block at `version`." Where it lies need not be where it would be placed now: a failure
/// changes that.
struct Holding {
  Rank keeper;
  Version version;
  Block block;
  ByteCount length = 0;
  std::vector<ByteCount> sizes;  ///< of its owners' snapshots
};

/// What all ranks have of the versions of a group of members.
struct Inventory {
  std::vector<Holding> holdings;
  std::set<Version> committed;  ///< versions that the group is in, whatever is left of them

  /// All versions of which there is or was something.
  std::set<Version> versions() const;
  /// Leaves nothing of other versions.
  void keep_only(Version version);
};

struct RestorePlan {
  /// The newest version at which every rank's snapshot is there or can be rebuilt; nullopt when there is none.
  std::optional<Version> version;
  /// Of all snapshots at that version.
  Sizes sizes;
  /// What gives each rank its own snapshot, and each holder its copies.
  std::vector<Combination> bring;
  /// What then makes it redundant again: needs the snapshots that the first has brought.
  std::vector<Combination> protect;
  /// When there is no such version: whose snapshots are missing from the newest one that anybody has a part of.
  std::vector<Rank> missing;
  std::optional<Version> newest_seen;
};

/// `stripes`: where everything shall lie (see place). `wanted`: the only version that will do, if there is one.
RestorePlan plan_restore(const Inventory& inventory, std::span<const Stripe> stripes, int ranks,
                         std::optional<Version> wanted = {});

/// For ranks that are others than those of then, because some have died and nobody took their place.
struct GatheringPlan {
  /// As above, but `bring` gives snapshots that nobody has whole to ranks of now, in turn, and there is nothing to
  /// protect.
  RestorePlan restore;
  /// By rank of then: who has its snapshot then, as ranks of now.
  std::vector<std::vector<Rank>> keepers;
};

/// `inventory`: its keepers are ranks of now, the owners of its blocks ranks of then. Pure.
GatheringPlan plan_gathering(const Inventory& inventory, int ranks_then, int ranks_now,
                             std::optional<Version> wanted = {});

}  // namespace mend
