#include "store/versions/held_versions.hpp"

#include <gtest/gtest.h>

namespace {

using mend::ProvisionalCommits;
using mend::Version;

TEST(ProvisionalCommits, are_those_since_a_version_that_is_held) {
  ProvisionalCommits commits;
  EXPECT_FALSE(commits.any());
  EXPECT_FALSE(commits.is_next_commit_provisional());
  commits.hold(Version{3});
  EXPECT_TRUE(commits.any());
  EXPECT_TRUE(commits.is_next_commit_provisional());
  EXPECT_EQ(commits.let_go(), Version{3});
  EXPECT_FALSE(commits.any());
}

TEST(ProvisionalCommits, end_with_the_last_one_which_is_not_provisional) {
  ProvisionalCommits commits;
  commits.hold(Version{3});
  commits.end_with_next_commit();
  EXPECT_TRUE(commits.next_commit_ends_a_hold());
  EXPECT_FALSE(commits.is_next_commit_provisional());
  commits.let_go();
  EXPECT_FALSE(commits.next_commit_ends_a_hold());
}

TEST(ProvisionalCommits, of_an_inner_hold_are_part_of_the_outer_one) {
  ProvisionalCommits commits;
  commits.hold(Version{3});
  commits.hold(Version{5});
  EXPECT_EQ(commits.first_held(), Version{3});
  EXPECT_EQ(commits.last_held(), Version{5});
  commits.end_with_next_commit();
  EXPECT_TRUE(commits.is_next_commit_provisional()) << "the outer hold can still take it back";
  EXPECT_EQ(commits.let_go(), Version{5});
  EXPECT_TRUE(commits.is_next_commit_provisional());
  commits.hold(Version{3});
  EXPECT_EQ(commits.let_go(), std::nullopt) << "the outer one holds the same version";
  EXPECT_EQ(commits.let_go(), Version{3});
}

TEST(ProvisionalCommitsDeathTest, have_a_version_to_go_back_to) {
  ProvisionalCommits commits;
  EXPECT_DEATH(commits.let_go(), "a version that is held");
  commits.hold(Version{3});
  EXPECT_DEATH(commits.hold(Version{2}), "no older version than the outer one");
}

}  // namespace
