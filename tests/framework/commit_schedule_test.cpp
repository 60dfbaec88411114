#include "framework/commit_schedule.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using mend::CommitSchedule;
using mend::Seconds;

constexpr Seconds day = std::chrono::hours(24);

std::vector<int> steps_that_commit(CommitSchedule& schedule, int steps) {
  std::vector<int> due;
  for (int step = 1; step <= steps; ++step) {
    if (schedule.step()) due.push_back(step);
  }
  return due;
}

TEST(CommitSchedule, every_n_steps_is_every_n_steps) {
  CommitSchedule every("1", day);
  EXPECT_EQ(steps_that_commit(every, 3), (std::vector{1, 2, 3}));
  CommitSchedule third("3", day);
  EXPECT_EQ(steps_that_commit(third, 10), (std::vector{3, 6, 9}));
  EXPECT_FALSE(third.automatic());
  EXPECT_FALSE(third.wants_measurement());
}

TEST(CommitSchedule, restarted_it_counts_from_the_beginning_and_keeps_its_interval) {
  CommitSchedule schedule("4", day);
  EXPECT_TRUE(steps_that_commit(schedule, 3).empty());
  schedule.restart();
  EXPECT_EQ(steps_that_commit(schedule, 9), (std::vector{4, 8}));
}

TEST(CommitSchedule, auto_commits_at_once_and_then_wants_to_know_what_it_cost) {
  CommitSchedule schedule("auto", day);
  EXPECT_TRUE(schedule.automatic());
  EXPECT_TRUE(schedule.wants_measurement());
  EXPECT_TRUE(schedule.step());
  schedule.measured(Seconds{0.01}, Seconds{1});
  EXPECT_FALSE(schedule.wants_measurement());
  // sqrt(2 * 0.01 * 86400) = 41.57 s
  EXPECT_EQ(schedule.interval(), 42);
  EXPECT_EQ(steps_that_commit(schedule, 100), (std::vector{42, 84}));
}

TEST(CommitSchedule, auto_measures_anew_after_a_restart) {
  CommitSchedule schedule("auto", day);
  schedule.measured(Seconds{0.01}, Seconds{1});
  schedule.restart();
  EXPECT_TRUE(schedule.wants_measurement());
  EXPECT_TRUE(schedule.step());
}

TEST(CommitSchedule, auto_stays_within_reason_whatever_is_measured) {
  CommitSchedule schedule("auto", day);
  schedule.measured(Seconds{0}, Seconds{1});
  EXPECT_EQ(schedule.interval(), 1) << "commits that cost nothing are made at every step";
  schedule.measured(Seconds{1000}, Seconds{0});
  EXPECT_GE(schedule.interval(), 1);
  EXPECT_LE(schedule.interval(), 1'000'000'000);
  schedule.measured(Seconds{1e-9}, Seconds{1e6});
  EXPECT_EQ(schedule.interval(), 1) << "steps longer than the interval each end with a commit";
}

TEST(CommitSchedule, refuses_what_is_no_interval) {
  for (const char* nonsense : {"", "0", "-1", "1.5", "3 ", " 3", "often", "Auto", "99999999999999999999"}) {
    EXPECT_THROW(CommitSchedule(nonsense, day), mend::UsageError) << "'" << nonsense << "'";
  }
  EXPECT_THROW(CommitSchedule("1", Seconds{0}), mend::UsageError);
  EXPECT_THROW(CommitSchedule("auto", Seconds{-1}), mend::UsageError);
}

TEST(YoungInterval, is_the_root_of_twice_cost_times_mtbf) {
  EXPECT_DOUBLE_EQ(mend::young_interval(Seconds{2}, Seconds{100}).count(), 20);
  EXPECT_EQ(mend::young_interval(Seconds{0}, Seconds{100}).count(), 0);
}

}  // namespace
