#include "store/versions/known_versions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace {

using mend::KnownVersions;
using mend::Version;

constexpr int committing_ranks = 4;

KnownVersions after_commits(std::uint64_t count) {
  KnownVersions versions;
  versions.begin_epoch(true);
  for (std::uint64_t i = 1; i <= count; ++i) versions.committed(Version{i}, committing_ranks);
  return versions;
}

TEST(KnownVersions, can_be_gone_back_to_once_there_is_one) {
  KnownVersions versions;
  versions.begin_epoch(true);
  EXPECT_FALSE(versions.any());
  EXPECT_FALSE(versions.can_go_back(committing_ranks));
  versions.committed(Version{1}, committing_ranks);
  EXPECT_TRUE(versions.any());
  EXPECT_TRUE(versions.can_go_back(committing_ranks));
  EXPECT_EQ(versions.next(), Version{2});
}

TEST(KnownVersions, are_agreed_on_after_a_recovery_since_newcomers_know_less) {
  KnownVersions survivor = after_commits(3);
  KnownVersions newcomer;
  newcomer.hear(Version{2});
  EXPECT_TRUE(newcomer.any());
  for (KnownVersions* one : {&survivor, &newcomer}) one->begin_epoch(false);
  EXPECT_TRUE(survivor.may_differ());
  EXPECT_FALSE(survivor.can_go_back(committing_ranks));
  KnownVersions::Numbers most = survivor.told();
  for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], newcomer.told()[i]);
  newcomer.agree(most);
  EXPECT_EQ(newcomer.published(), Version{3});
  EXPECT_EQ(newcomer.settled(), Version{3});
  EXPECT_EQ(newcomer.committed_by(), committing_ranks);
  EXPECT_FALSE(newcomer.may_differ());
  EXPECT_FALSE(newcomer.can_go_back(committing_ranks)) << "its members hold nothing of it yet";
  newcomer.begin_restore();
  newcomer.restored(Version{3}, true);
  EXPECT_TRUE(newcomer.can_go_back(committing_ranks));
}

TEST(KnownVersions, are_not_in_the_members_of_all_after_a_restore_that_has_failed_or_has_left_some_alone) {
  KnownVersions versions = after_commits(2);
  versions.begin_restore();
  EXPECT_FALSE(versions.can_go_back(committing_ranks)) << "it has not succeeded yet";
  versions.restored(Version{2}, false);
  EXPECT_FALSE(versions.can_go_back(committing_ranks));
  versions.committed(Version{3}, committing_ranks);
  EXPECT_TRUE(versions.can_go_back(committing_ranks));
}

TEST(KnownVersions, go_back_to_the_one_restored) {
  KnownVersions versions = after_commits(5);
  versions.begin_restore();
  versions.restored(Version{4}, true);
  EXPECT_EQ(versions.published(), Version{4});
  EXPECT_EQ(versions.settled(), Version{4});
  EXPECT_EQ(versions.next(), Version{5});
}

TEST(KnownVersions, of_another_number_of_ranks_cannot_be_gone_back_to) {
  KnownVersions versions = after_commits(1);
  EXPECT_TRUE(versions.are_of_others(committing_ranks - 1));
  EXPECT_FALSE(versions.can_go_back(committing_ranks - 1));
  versions.forget_memory();
  EXPECT_FALSE(versions.are_of_others(committing_ranks - 1));
}

TEST(KnownVersions, that_are_dropped_leave_the_members_as_they_are) {
  KnownVersions versions = after_commits(3);
  versions.take_back(Version{1});
  EXPECT_EQ(versions.published(), Version{1});
  EXPECT_FALSE(versions.can_go_back(committing_ranks));
  versions.take_back(Version{2});
  EXPECT_EQ(versions.published(), Version{1}) << "there is no newer one to take back";
}

TEST(KnownVersionsDeathTest, are_published_one_after_the_other) {
  KnownVersions versions = after_commits(2);
  EXPECT_DEATH(versions.committed(Version{2}, committing_ranks), "versions are published one after the other");
  versions.begin_epoch(false);
  EXPECT_DEATH(versions.committed(Version{3}, committing_ranks), "all ranks know the one before");
}

}  // namespace
