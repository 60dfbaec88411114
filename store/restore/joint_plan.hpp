#pragma once

#include "store/restore/restore_plan.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace mend {

/// The plan for restoring several groups of members (store/placement/member_group.hpp), all at one version.
struct JointPlan {
  /// The newest version of which every committed group can be restored; nullopt if there is none.
  std::optional<Version> version;
  /// The plan of each group for that version; nullopt for a group that was not committed in it.
  std::vector<std::optional<GatheringPlan>> groups;
  /// If there is no such version: the ranks whose snapshots are missing from the newest version that is held in part.
  std::vector<Rank> missing;
  std::optional<Version> newest_seen;
};

/// `inventories`: one for each group; `plan`: the plan of one group for a version. Pure.
JointPlan plan_jointly(std::span<const Inventory> inventories,
                       const std::function<GatheringPlan(std::size_t group, Version version)>& plan);

}  // namespace mend
