#include "base/ids.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace {

using namespace mend;

TEST(Ids, of_different_kinds_do_not_mix) {
  static_assert(!std::is_convertible_v<Rank, ProcessId> && !std::is_convertible_v<ProcessId, Rank>);
  static_assert(!std::is_convertible_v<int, Rank> && !std::is_convertible_v<unsigned, ProcessId>);
  static_assert(!std::is_convertible_v<Epoch, Version>);
  EXPECT_EQ(Rank{1}.value, 1);
}

TEST(Ids, count_on) {
  EXPECT_EQ(Epoch{}.next(), Epoch{1});
  EXPECT_EQ(Version{41}.next(), Version{42});
  EXPECT_LT(Version{1}, Version{2});
}

TEST(Ids, of_processes_can_be_kept_in_hash_tables) {
  const std::unordered_set<ProcessId> set{ProcessId{1}, ProcessId{2}, ProcessId{1}};
  EXPECT_EQ(set.size(), 2U);
}

}  // namespace
