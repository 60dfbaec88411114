// Compares the simulated job that loses nodes with calculated values.

#include "bench/simulated/rollback_failures.hpp"

#include <gmock/gmock.h>

namespace {

using namespace std::chrono_literals;
using mend::Seconds;
using mend::bench::FailingJob;
using mend::bench::FailingJobRun;
using mend::bench::JobCost;
using mend::bench::Rollback;

/// A failure every 1,000 s.
FailingJob job() {
  FailingJob job;
  job.nodes = 100;
  job.ranks_per_node = 4;
  job.node_mtbf = 100'000s;
  job.work = 20'000s;
  job.interval = 100s;
  job.commit_cost = 5s;
  job.recovery = 10s;
  return job;
}

JobCost mean(const FailingJob& job, Rollback rollback) {
  constexpr int seeds = 2'000;
  JobCost sum;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const JobCost cost = FailingJobRun(job, rollback, seed).run();
    sum.time += cost.time / seeds;
    sum.computing += cost.computing / seeds;
    sum.computed_again += cost.computed_again / seeds;
    sum.waiting += cost.waiting / seeds;
    sum.failures += cost.failures;
  }
  sum.failures /= seeds;
  return sum;
}

TEST(RollbackFailures, nothing_is_lost_without_failures) {
  FailingJob quiet = job();
  quiet.node_mtbf = Seconds(1e300);
  for (const Rollback rollback : {Rollback::global, Rollback::local}) {
    const JobCost cost = FailingJobRun(quiet, rollback, 1).run();
    EXPECT_EQ(cost.failures, 0U);
    EXPECT_DOUBLE_EQ(cost.time.count(), 20'000 + 200 * 5);
    EXPECT_DOUBLE_EQ(cost.computing.count(), 400 * cost.time.count());
    EXPECT_EQ(cost.computed_again, 0s);
    EXPECT_EQ(cost.waiting, 0s);
  }
}

TEST(RollbackFailures, global_rollback_takes_the_time_of_daly) {
  const double rate = 1e-3;
  const double exact = 200 * std::exp(rate * 10) * std::expm1(rate * 105) / rate;
  EXPECT_NEAR(mean(job(), Rollback::global).time.count(), exact, 0.005 * exact);
}

TEST(RollbackFailures, global_rollback_loses_half_an_interval_and_a_recovery_a_failure_to_first_order) {
  FailingJob rare = job();
  rare.node_mtbf = 1'000'000s;
  rare.work = 200'000s;
  const JobCost cost = mean(rare, Rollback::global);
  const double failures = 1e-4 * 210'000;
  EXPECT_NEAR(cost.time.count() - 210'000, failures * (10 + 105 / 2.0), 0.03 * failures * (10 + 105 / 2.0));
}

TEST(RollbackFailures, local_rollback_takes_as_long_and_only_the_dead_nodes_compute_again) {
  const JobCost global = mean(job(), Rollback::global);
  const JobCost local = mean(job(), Rollback::local);
  EXPECT_NEAR(local.time.count(), global.time.count(), 0.005 * global.time.count());
  // One node of 100, and sometimes a second one.
  EXPECT_GT(local.computed_again, global.computed_again / 100 * 0.99);
  EXPECT_LT(local.computed_again, global.computed_again / 100 * 1.2);
  EXPECT_NEAR((local.computing + local.waiting).count(), 400 * local.time.count(), 1e-6 * local.computing.count());
}

TEST(RollbackFailures, a_faster_replay_shortens_what_the_others_wait_and_logs_lengthen_the_work) {
  FailingJob fast = job();
  fast.replay_speed = 4;
  EXPECT_LT(mean(fast, Rollback::local).time, mean(job(), Rollback::local).time);
  FailingJob logged = job();
  logged.node_mtbf = Seconds(1e300);
  logged.logging = 0.1;
  EXPECT_NEAR(FailingJobRun(logged, Rollback::local, 1).run().time.count(), 22'000 + 1'000, 1e-6);
  EXPECT_DOUBLE_EQ(FailingJobRun(logged, Rollback::global, 1).run().time.count(), 21'000);
}

TEST(RollbackFailures, the_same_seed_gives_the_same_job) {
  EXPECT_EQ(FailingJobRun(job(), Rollback::local, 7).run().time, FailingJobRun(job(), Rollback::local, 7).run().time);
  EXPECT_NE(FailingJobRun(job(), Rollback::local, 7).run().time, FailingJobRun(job(), Rollback::local, 8).run().time);
}

}  // namespace
