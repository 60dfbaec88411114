// Chooses one version for members of several redundancies.

#include "store/restore/joint_plan.hpp"

#include <gmock/gmock.h>

namespace {

using mend::Block;
using mend::GatheringPlan;
using mend::Inventory;
using mend::JointPlan;
using mend::Rank;
using mend::Version;
using testing::ElementsAre;

constexpr int planned_ranks = 3;

/// A group of members without redundancy: of each version, the snapshots of some ranks are left.
class Group {
 public:
  Group& has(Version version, std::initializer_list<int> owners) {
    for (const int owner : owners)
      inventory_.holdings.push_back({Rank{owner}, version, Block::snapshot_of(Rank{owner}), 8, {8}});
    return *this;
  }
  Group& was_in(Version version) {
    inventory_.committed.insert(version);
    return *this;
  }
  const Inventory& inventory() const { return inventory_; }

 private:
  Inventory inventory_;
};

JointPlan plan(const std::vector<Group>& groups) {
  std::vector<Inventory> inventories;
  for (const Group& group : groups) inventories.push_back(group.inventory());
  return plan_jointly(inventories, [&](std::size_t group, Version version) {
    return GatheringPlan{plan_restore(inventories[group], {}, planned_ranks, version), {}};
  });
}

TEST(AJointPlan, is_for_the_newest_version_that_all_groups_can_have) {
  const auto joint = plan({Group().has(Version{4}, {0, 1, 2}).has(Version{3}, {0, 1, 2}),
                           Group().has(Version{4}, {0, 2}).has(Version{3}, {0, 1, 2})});
  EXPECT_EQ(joint.version, Version{3});
  EXPECT_EQ(joint.newest_seen, Version{4});
  ASSERT_EQ(joint.groups.size(), 2U);
  EXPECT_EQ(joint.groups[0]->restore.version, Version{3});
  EXPECT_EQ(joint.groups[1]->restore.version, Version{3});
}

TEST(AJointPlan, is_none_when_no_version_is_whole_in_all_groups_and_says_whose_data_is_missing_from_the_newest) {
  const auto joint = plan({Group().has(Version{4}, {0, 1, 2}).has(Version{3}, {1}),
                           Group().has(Version{4}, {1}).has(Version{3}, {0, 1, 2})});
  EXPECT_EQ(joint.version, std::nullopt);
  EXPECT_EQ(joint.newest_seen, Version{4});
  EXPECT_THAT(joint.missing, ElementsAre(Rank{0}, Rank{2}));
}

TEST(AJointPlan, names_the_ranks_that_miss_something_in_any_group_once) {
  const auto joint = plan({Group().has(Version{4}, {1, 2}), Group().has(Version{4}, {1})});
  EXPECT_THAT(joint.missing, ElementsAre(Rank{0}, Rank{2}));
}

TEST(AJointPlan, has_nothing_for_a_group_that_was_not_committed_then) {
  const auto joint = plan({Group().has(Version{4}, {0, 1, 2}), Group()});
  EXPECT_EQ(joint.version, Version{4});
  ASSERT_EQ(joint.groups.size(), 2U);
  EXPECT_TRUE(joint.groups[0]);
  EXPECT_FALSE(joint.groups[1]);
}

TEST(AJointPlan, passes_a_version_over_of_which_a_group_has_nothing_left) {
  const auto joint = plan({Group().has(Version{4}, {0, 1, 2}).has(Version{3}, {0, 1, 2}),
                           Group().was_in(Version{4}).was_in(Version{3}).has(Version{3}, {0, 1, 2})});
  EXPECT_EQ(joint.version, Version{3});
  const auto none = plan({Group().has(Version{4}, {0, 1, 2}), Group().was_in(Version{4})});
  EXPECT_EQ(none.version, std::nullopt);
  EXPECT_THAT(none.missing, ElementsAre(Rank{0}, Rank{1}, Rank{2}));
}

TEST(AJointPlan, of_nothing_is_none) {
  const auto joint = plan({Group(), Group()});
  EXPECT_EQ(joint.version, std::nullopt);
  EXPECT_EQ(joint.newest_seen, std::nullopt);
  EXPECT_THAT(joint.missing, testing::IsEmpty());
}

}  // namespace
