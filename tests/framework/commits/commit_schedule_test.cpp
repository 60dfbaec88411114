#include "framework/commits/commit_economy.hpp"
#include "framework/commits/commit_schedule.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <optional>
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
  CommitSchedule every(1);
  EXPECT_EQ(steps_that_commit(every, 3), (std::vector{1, 2, 3}));
  CommitSchedule third(3);
  EXPECT_EQ(steps_that_commit(third, 10), (std::vector{3, 6, 9}));
  EXPECT_FALSE(third.automatic());
  EXPECT_FALSE(third.wants_measurement());
}

TEST(CommitSchedule, restarted_it_counts_from_the_beginning_and_keeps_its_interval) {
  CommitSchedule schedule(4);
  EXPECT_TRUE(steps_that_commit(schedule, 3).empty());
  schedule.restart();
  EXPECT_EQ(steps_that_commit(schedule, 9), (std::vector{4, 8}));
}

TEST(CommitSchedule, auto_commits_at_once_and_then_wants_to_know_what_it_cost) {
  CommitSchedule schedule(std::nullopt);
  EXPECT_TRUE(schedule.automatic());
  EXPECT_TRUE(schedule.wants_measurement());
  EXPECT_TRUE(schedule.step());
  schedule.measured(Seconds{0.01}, Seconds{1}, day);
  EXPECT_FALSE(schedule.wants_measurement());
  // sqrt(2 * 0.01 * 86400) = 41.57 s by Young, 41.56 s by Daly
  EXPECT_EQ(schedule.interval(), 42);
  EXPECT_EQ(steps_that_commit(schedule, 100), (std::vector{42, 84}));
}

TEST(CommitSchedule, auto_measures_anew_after_a_restart) {
  CommitSchedule schedule(std::nullopt);
  schedule.measured(Seconds{0.01}, Seconds{1}, day);
  schedule.restart();
  EXPECT_TRUE(schedule.wants_measurement());
  EXPECT_TRUE(schedule.step());
}

TEST(CommitSchedule, auto_stays_within_reason_whatever_is_measured) {
  CommitSchedule schedule(std::nullopt);
  schedule.measured(Seconds{0}, Seconds{1}, day);
  EXPECT_EQ(schedule.interval(), 1) << "commits that cost nothing are made at every step";
  schedule.measured(Seconds{1000}, Seconds{0}, day);
  EXPECT_GE(schedule.interval(), 1);
  EXPECT_LE(schedule.interval(), 1'000'000'000);
  schedule.measured(Seconds{1e-9}, Seconds{1e6}, day);
  EXPECT_EQ(schedule.interval(), 1) << "steps longer than the interval each end with a commit";
}

TEST(CommitSchedule, refuses_what_is_no_interval) {
  for (const int nonsense : {0, -1}) EXPECT_THROW(CommitSchedule{nonsense}, mend::UsageError) << nonsense;
}

TEST(YoungInterval, is_the_root_of_twice_cost_times_mtbf) {
  EXPECT_DOUBLE_EQ(mend::young_interval(Seconds{2}, Seconds{100}).count(), 20);
  EXPECT_EQ(mend::young_interval(Seconds{0}, Seconds{100}).count(), 0);
}

TEST(DalyInterval, is_youngs_where_commits_cost_next_to_nothing) {
  EXPECT_NEAR(mend::daly_interval(Seconds{1e-3}, day).count(), mend::young_interval(Seconds{1e-3}, day).count(), 1e-3);
  EXPECT_EQ(mend::daly_interval(Seconds{0}, Seconds{100}).count(), 0);
}

TEST(DalyInterval, follows_the_paper_where_they_do_not) {
  // Cost 5 minutes, 6 hours between failures: 60 minutes by Young, 56.7 by Daly.
  EXPECT_NEAR(mend::daly_interval(std::chrono::minutes(5), std::chrono::hours(6)).count() / 60, 56.71, 0.01);
  EXPECT_EQ(mend::daly_interval(Seconds{200}, Seconds{100}).count(), 100)
      << "then a commit is worth making only after that time";
}

/// The run time with commits and random failures, by the exact model that Daly's estimate approximates (in the same
/// paper), up to a factor that does not depend on the interval.
double exact_run_time(double interval, double cost, double mtbf) {
  return mtbf * std::expm1((interval + cost) / mtbf) / interval;
}

TEST(DalyInterval, is_within_a_thousandth_of_the_best_there_is) {
  for (const double cost : {0.1, 1.0, 10.0, 40.0}) {
    const double mtbf = 100;
    double best = exact_run_time(1, cost, mtbf);
    for (double interval = 0.5; interval < 300; interval += 0.1)
      best = std::min(best, exact_run_time(interval, cost, mtbf));
    EXPECT_LE(exact_run_time(mend::daly_interval(Seconds{cost}, Seconds{mtbf}).count(), cost, mtbf), 1.001 * best)
        << "cost " << cost;
  }
}

TEST(Mtbf, is_what_is_given_or_else_observed_or_else_a_day) {
  using mend::mtbf_of;
  using mend::MtbfFrom;
  EXPECT_EQ(mtbf_of(Seconds{7}, Seconds{100}, 4), (mend::Mtbf{Seconds{7}, MtbfFrom::given}));
  EXPECT_EQ(mtbf_of({}, Seconds{100}, 4), (mend::Mtbf{Seconds{25}, MtbfFrom::observed}));
  EXPECT_EQ(mtbf_of({}, Seconds{100}, 0), (mend::Mtbf{day, MtbfFrom::assumed}));
}

TEST(CommitEconomy, says_what_another_interval_would_have_saved) {
  // A commit of 10 ms after each step of 90 ms: a tenth of 1000 s, although one commit every 41.6 s would be best.
  const mend::CommitEconomy economy{Seconds{1000}, 10'000, Seconds{100}, 0, {day, mend::MtbfFrom::given}};
  EXPECT_NEAR(economy.overhead(economy.interval()), 0.111, 0.001);
  EXPECT_NEAR(economy.overhead(mend::daly_interval(economy.cost(), day)), 0.00048, 0.00001);
  EXPECT_THAT(
      economy.to_string(),
      testing::HasSubstr("10000 commits of 10 ms, one every 90 ms: they and what failures cost take 11.1 % on top"));
  EXPECT_THAT(economy.to_string(),
              testing::HasSubstr("with 24 h between failures (given), the best interval is 41.6 s by Daly (41.6 s by "
                                 "Young), 0.048 %: it would have saved 99.6 s of 0.278 h"));
  EXPECT_EQ(mend::CommitEconomy{}.to_string(), "");
}

}  // namespace
