#include "framework/local_rollback/rollback_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace {

using mend::Rank;
using mend::RollbackCounts;

TEST(RollbackCounts, says_nothing_if_nobody_went_back) {
  RollbackCounts tally;
  EXPECT_EQ(tally.to_string(), "");
  tally.begin(3);
  tally.has_logged(5 << 20);
  EXPECT_EQ(tally.to_string(), "");
}

TEST(RollbackCounts, says_who_went_back_how_often_and_what_that_cost) {
  RollbackCounts tally;
  tally.begin(4);
  tally.go_back(std::array{Rank{1}, Rank{3}}, 4);
  tally.go_back(std::array{Rank{1}}, 27);
  tally.computed_twice(Rank{1}, 1);
  tally.has_logged(3 << 19);
  tally.has_logged(1 << 19);
  tally.begin(4);
  EXPECT_EQ(tally.to_string(),
            "rank 1 went back 2 times, rank 3 went back once; 1 step was computed twice, and 31 were kept; a rank has "
            "logged 1.5 MiB at most");
}

TEST(RollbackCounts, is_right_when_the_larger_of_each_number_is_taken) {
  RollbackCounts old;
  old.begin(2);
  old.go_back(std::array{Rank{0}}, 3);
  RollbackCounts of_newcomer;
  of_newcomer.begin(2);
  std::ranges::transform(old.words(), of_newcomer.words(), of_newcomer.words().begin(),
                         [](auto one, auto other) { return std::max(one, other); });
  of_newcomer.computed_twice(Rank{0}, 2);
  EXPECT_EQ(of_newcomer.to_string(),
            "rank 0 went back once; 2 steps were computed twice, and 3 were kept; a rank has logged 0.0 MiB at most");
}

}  // namespace
