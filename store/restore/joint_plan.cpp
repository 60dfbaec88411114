#include "store/restore/joint_plan.hpp"

#include <set>

namespace mend {
namespace {

/// Returns the plans of all groups for one version.
JointPlan plan_for(Version version, std::span<const Inventory> inventories,
                   const std::function<GatheringPlan(std::size_t, Version)>& plan) {
  JointPlan joint{version, {}, {}, version};
  std::set<Rank> missing;
  for (std::size_t group = 0; group < inventories.size(); ++group) {
    auto& of_group = joint.groups.emplace_back();
    if (!inventories[group].versions().contains(version)) continue;
    of_group = plan(group, version);
    missing.insert(of_group->restore.missing.begin(), of_group->restore.missing.end());
    if (!of_group->restore.version) joint.version.reset();
  }
  joint.missing.assign(missing.begin(), missing.end());
  return joint;
}

}  // namespace

JointPlan plan_jointly(std::span<const Inventory> inventories,
                       const std::function<GatheringPlan(std::size_t, Version)>& plan) {
  std::set<Version, std::greater<>> seen;
  for (const Inventory& inventory : inventories) {
    for (const Version version : inventory.versions()) seen.insert(version);
  }
  std::optional<JointPlan> newest;
  for (const Version version : seen) {
    JointPlan joint = plan_for(version, inventories, plan);
    if (joint.version) {
      joint.newest_seen = *seen.begin();
      return joint;
    }
    if (!newest) newest = std::move(joint);
  }
  return newest.value_or(JointPlan{});
}

}  // namespace mend
