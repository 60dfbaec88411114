#include "store/versions/held_versions.hpp"

#include <gtest/gtest.h>

namespace {

using mend::HeldVersions;
using mend::Version;

TEST(HeldVersions, make_the_commits_after_them_provisional) {
  HeldVersions held;
  EXPECT_FALSE(held.any());
  EXPECT_FALSE(held.is_next_commit_provisional());
  held.hold(Version{3});
  EXPECT_TRUE(held.any());
  EXPECT_TRUE(held.is_next_commit_provisional());
  EXPECT_EQ(held.let_go(), Version{3});
  EXPECT_FALSE(held.any());
}

TEST(HeldVersions, are_let_go_by_a_last_commit_that_is_not_provisional) {
  HeldVersions held;
  held.hold(Version{3});
  held.end_with_next_commit();
  EXPECT_TRUE(held.next_commit_ends_a_hold());
  EXPECT_FALSE(held.is_next_commit_provisional());
  held.let_go();
  EXPECT_FALSE(held.next_commit_ends_a_hold());
}

TEST(HeldVersions, are_nested_and_the_outer_one_can_take_back_the_inner_commits) {
  HeldVersions held;
  held.hold(Version{3});
  held.hold(Version{5});
  EXPECT_EQ(held.first(), Version{3});
  EXPECT_EQ(held.last(), Version{5});
  held.end_with_next_commit();
  EXPECT_TRUE(held.is_next_commit_provisional()) << "the outer hold can still take it back";
  EXPECT_EQ(held.let_go(), Version{5});
  EXPECT_TRUE(held.is_next_commit_provisional());
  held.hold(Version{3});
  EXPECT_EQ(held.let_go(), std::nullopt) << "the outer one holds the same version";
  EXPECT_EQ(held.let_go(), Version{3});
}

TEST(HeldVersionsDeathTest, must_exist_and_be_in_order) {
  HeldVersions held;
  EXPECT_DEATH(held.let_go(), "a version that is held");
  held.hold(Version{3});
  EXPECT_DEATH(held.hold(Version{2}), "no older version than the outer one");
}

}  // namespace
