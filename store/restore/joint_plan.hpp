#pragma once

#include "store/restore/restore_plan.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace mend {

/// What is to be restored of several groups of members (store/placement/member_group.hpp), all at one version.
struct JointPlan {
  /// The newest version at which every group that was committed then can be restored; nullopt when there is none.
  std::optional<Version> version;
  /// For each group, of that version; nullopt for one that nobody knows to have been committed then.
  std::vector<std::optional<GatheringPlan>> groups;
  /// When there is no such version: of the newest that anybody has something of, whose snapshots are missing.
  std::vector<Rank> missing;
  std::optional<Version> newest_seen;
};

/// `inventories`: one for each group; `plan`: what a group would do for that version. Pure.
JointPlan plan_jointly(std::span<const Inventory> inventories,
                       const std::function<GatheringPlan(std::size_t group, Version version)>& plan);

}  // namespace mend
