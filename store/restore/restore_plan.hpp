// Decides which version is restored after a failure, and which rank makes which block from which sources. Pure: every
// rank computes the same plan from the same inventory.

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

/// Rank `holder` has this block at `version`. The present placement may name another holder, because a failure changes
/// the placement.
struct Holding {
  Rank holder;
  Version version;
  Block block;
  ByteCount length = 0;
  std::vector<ByteCount> sizes;  ///< of its owners' snapshots
};

/// The blocks that all ranks have of the versions of a group of members.
struct Inventory {
  std::vector<Holding> holdings;
  std::set<Version> committed;  ///< versions that contain the group, even if no block of them is left

  /// Returns all versions that are held or were committed.
  std::set<Version> versions() const;
  /// Removes all versions except `version`.
  void keep_only(Version version);
};

struct RestorePlan {
  /// The newest version at which every rank's snapshot exists or can be rebuilt; nullopt if there is none.
  std::optional<Version> version;
  /// The sizes of all snapshots at that version.
  Sizes sizes;
  /// Gives each rank its own snapshot.
  std::vector<Combination> bring;
  /// Makes the version redundant again: gives each holder its copies and parities. Needs the snapshots of `bring`.
  std::vector<Combination> protect;
  /// If there is no such version: the ranks whose snapshots are missing from the newest version that is held in part.
  std::vector<Rank> missing;
  std::optional<Version> newest_seen;
};

/// Returns the plan of a restore. `stripes`: the present placement (see place). `wanted`: if given, the only acceptable
/// version.
RestorePlan plan_restore(const Inventory& inventory, std::span<const Stripe> stripes, int ranks,
                         std::optional<Version> wanted = {});

/// A plan for another number of ranks than at the commit, because ranks have died and were not replaced. Owners are
/// ranks of the job that committed the version; all other ranks are present ranks.
struct GatheringPlan {
  /// As above, except that `bring` gives the snapshots that no rank has as a whole to the present ranks in turn, and
  /// that `protect` is empty.
  RestorePlan restore;
  /// By owner: the present ranks that have its snapshot after `bring`.
  std::vector<std::vector<Rank>> holders;
};

/// Returns the plan for `ranks_now` present ranks. The holders in `inventory` are present ranks. Pure.
GatheringPlan plan_gathering(const Inventory& inventory, int ranks_then, int ranks_now,
                             std::optional<Version> wanted = {});

}  // namespace mend
