#include "base/assert.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace {

TEST(Invariant, that_holds_changes_nothing) {
  mend::require(true, "one is one");
  MEND_ASSERT(true, "one is one");
}

TEST(InvariantDeathTest, that_is_broken_stops_the_process_with_a_sentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(mend::require(false, "one is two"), testing::KilledBySignal(SIGKILL),
              "a defect of mend, in line [0-9]+ of assert_test.cpp: it does not hold that one is two");
}

TEST(Invariant, that_costs_much_to_check_is_checked_in_debug_builds_only) {
  bool checked = false;
  MEND_ASSERT((checked = true), "this is looked at");
#ifdef NDEBUG
  EXPECT_FALSE(checked);
#else
  EXPECT_TRUE(checked);
#endif
}

}  // namespace
