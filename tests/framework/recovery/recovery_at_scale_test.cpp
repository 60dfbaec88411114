// Recoveries of whole jobs, all their cores at once, in the simulator (framework/recovery/simulated/simulation.hpp).

#include "base/error.hpp"
#include "framework/recovery/simulated/simulation.hpp"
#include "tests/support/sanitized.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>

namespace mend::recovery {
namespace {

using namespace std::chrono_literals;

SimulationOptions job_of(int ranks, const char* rung = "spare", int failures = 1) {
  SimulationOptions options;
  options.ranks = ranks;
  options.policy = Policy::parse(rung);
  options.spares = options.policy.spare ? failures : 0;
  options.failures = failures;
  return options;
}

std::uint32_t rounds_of(const RecoverySimulation& job) {
  std::uint32_t sum = 0;
  for (std::size_t phase = 0; phase < phases; ++phase) sum += job.cost(static_cast<Phase>(phase)).rounds;
  return sum;
}

TEST(RecoveryAtScale, everyone_gets_on_whatever_happens_to_the_ranks_of_the_dead) {
  for (const char* rung : {"spare", "spawn", "shrink", "spare,spawn", "spare,shrink"}) {
    for (const Finding finding : {Finding::told, Finding::silence}) {
      for (std::uint64_t seed = 1; seed <= (support::sanitized ? 4U : 20U); ++seed) {
        const int ranks = 5 + static_cast<int>(seed);
        SimulationOptions options = job_of(ranks, rung, 1 + static_cast<int>(seed % 2));
        if (std::string(rung).size() > 6) options.spares = 1;
        options.finding = finding;
        options.seed = seed;
        options.redundancy = Redundancy::parse("replicas:2");  // two deaths lose nothing
        options.network.processes_per_node = seed % 3 == 0 ? 4 : 1;
        options.until_call = seed % 5 == 0 ? SimulatedTime(2ms) : SimulatedTime{0};
        RecoverySimulation job(options);
        job.run();
        ASSERT_EQ(job.verdict(), std::nullopt) << rung << ", seed " << seed;
        ASSERT_EQ(job.end(), std::nullopt) << rung << ", seed " << seed;
        const bool gives_up = std::string(rung).find("shrink") != std::string::npos;
        const int lost = std::max(0, options.failures - options.spares);
        EXPECT_EQ(job.roster().size(), gives_up ? ranks - lost : ranks) << rung << ", seed " << seed;
        for (const ProcessId victim : job.victims()) EXPECT_EQ(job.roster().rank_of(victim), std::nullopt);
      }
    }
  }
}

/// A call because of the second death reaches spares that have parked without it already. They must stay parked.
TEST(RecoveryAtScale, no_spare_is_called_out_of_an_epoch_without_the_dead) {
  for (int step = 0; step <= 200; ++step) {
    SimulationOptions options = job_of(4, "shrink");
    options.spares = 2;  // which take part, and are woken by the death
    options.redundancy = Redundancy::parse("replicas:2");
    options.network.processes_per_node = 3;
    options.another_after = 5us * step;
    options.seed = 26;
    RecoverySimulation job(options);
    job.run();
    ASSERT_EQ(job.verdict(), std::nullopt) << step;
  }
}

/// A death in each phase of the recovery from another, and after it.
TEST(RecoveryAtScale, everyone_gets_on_when_another_dies_in_the_recovery) {
  SimulatedTime quiet{0};
  SimulatedTime longest{0};
  for (const char* rung : {"spare", "spawn", "shrink"}) {
    for (int step = 0; step <= 100; step += support::sanitized ? 5 : 1) {
      SimulationOptions options = job_of(12, rung);
      options.spares = options.policy.spare ? 2 : 0;
      options.redundancy = Redundancy::parse("replicas:2");
      options.start_process = 300us;
      options.another_after = 20us * step;
      options.seed = static_cast<std::uint64_t>(step) + 1;
      RecoverySimulation job(options);
      job.run();
      ASSERT_EQ(job.verdict(), std::nullopt) << rung << ", " << step;
      ASSERT_EQ(job.end(), std::nullopt) << rung << ", " << step;
      EXPECT_EQ(job.roster().size(), options.policy.shrink ? 10 : 12) << rung << ", " << step;
      for (const ProcessId victim : job.victims()) EXPECT_EQ(job.roster().rank_of(victim), std::nullopt);
      if (options.policy.spare && step == 0) quiet = job.total();
      if (options.policy.spare) longest = std::max(longest, job.total());
    }
  }
  EXPECT_GT(longest, quiet + 1ms);  // some of it is done twice
}

TEST(RecoveryAtScale, the_phases_of_the_last_survivor_make_up_the_whole) {
  RecoverySimulation job(job_of(48, "spawn", 2));
  job.run();
  ASSERT_EQ(job.verdict(), std::nullopt);
  SimulatedTime sum{0};
  for (std::size_t phase = 0; phase + 1 < phases; ++phase) sum += job.cost(static_cast<Phase>(phase)).time;
  EXPECT_LE(sum, job.total());
  EXPECT_GE(sum, job.total() - 100us);  // a newcomer may be the last of all
  EXPECT_GE(job.cost(Phase::start).time, 150ms);
}

TEST(RecoveryAtScale, the_rounds_grow_with_the_logarithm) {
  SKIP_IF_SANITIZED();
  RecoverySimulation small(job_of(32));
  RecoverySimulation large(job_of(512));
  small.run();
  large.run();
  for (const Phase phase : {Phase::ballot, Phase::decide, Phase::settle, Phase::shrink, Phase::count, Phase::split,
                            Phase::confirm, Phase::restore}) {
    // 16 times the ranks: 5 against 9 doublings.
    EXPECT_LE(large.cost(phase).rounds, 3 * small.cost(phase).rounds) << name_of(phase);
    EXPECT_GT(large.cost(phase).rounds, small.cost(phase).rounds) << name_of(phase);
  }
  EXPECT_LT(rounds_of(large), 2.2 * rounds_of(small));
}

TEST(RecoveryAtScale, what_all_must_learn_of_all_grows_with_the_ranks) {
  SKIP_IF_SANITIZED();
  RecoverySimulation small(job_of(32));
  RecoverySimulation large(job_of(512));
  small.run();
  large.run();
  // Two allgathers of 8 bytes each beside messages whose number grows with the logarithm.
  EXPECT_GT(large.cost(Phase::split).bytes, 2 * 8 * 512);
  EXPECT_LT(small.cost(Phase::split).bytes, 2 * 8 * 512);
  // With a partner: its version, and 6 numbers for its own snapshot and for the copy of another's.
  EXPECT_GT(large.cost(Phase::restore).bytes, 512 * 14 * 8);
  EXPECT_EQ(large.cost(Phase::settle).most_messages, small.cost(Phase::settle).most_messages);
}

TEST(RecoveryAtScale, a_newcomer_greets_all_one_by_one_and_newcomers_come_one_after_the_other) {
  RecoverySimulation one(job_of(64, "spawn", 1));
  RecoverySimulation two(job_of(64, "spawn", 2));
  one.run();
  two.run();
  EXPECT_GE(one.cost(Phase::merge).most_messages, 63U);
  EXPECT_GT(two.cost(Phase::connect).time, 1.9 * one.cost(Phase::connect).time);
  // They were started at the same time.
  EXPECT_LT(two.cost(Phase::start).time, 1.1 * one.cost(Phase::start).time);
}

TEST(RecoveryAtScale, detection_takes_what_is_given) {
  SimulationOptions told = job_of(16);
  told.told_after = 7ms;
  RecoverySimulation by_kernel(told);
  by_kernel.run();
  EXPECT_GE(by_kernel.first_known(), 7ms);
  EXPECT_LT(by_kernel.first_known(), 8ms);
  SimulationOptions silent = job_of(16);
  silent.finding = Finding::silence;
  RecoverySimulation by_silence(silent);
  by_silence.run();
  EXPECT_GE(by_silence.first_known(), 900ms - 1ms);  // the last heartbeat was up to one period before the death
  EXPECT_LT(by_silence.first_known(), 1300ms);
}

TEST(RecoveryAtScale, the_data_comes_from_the_plan_of_the_store) {
  SimulationOptions options = job_of(16);
  options.bytes_per_rank = 10'000'000;
  RecoverySimulation job(options);
  job.run();
  // The snapshot of the dead for the newcomer, the copy that it had of another, and what moves because the newcomer is
  // on another node.
  EXPECT_GT(job.cost(Phase::data).bytes * 16, 2 * 10e6);
  EXPECT_LT(job.cost(Phase::data).bytes * 16, 4.1 * 10e6);
  // Nobody waits for more than the first of these: at 10 bytes a nanosecond, and 4 to copy.
  EXPECT_GE(job.cost(Phase::data).time, 1ms + 2'500us);
  EXPECT_LT(job.cost(Phase::data).time, 2 * 1ms + 2'500us);
  options.redundancy = Redundancy::parse("rs:4+2");
  RecoverySimulation coded(options);
  coded.run();
  ASSERT_EQ(coded.verdict(), std::nullopt);
  EXPECT_GT(coded.cost(Phase::data).bytes, job.cost(Phase::data).bytes);
}

TEST(RecoveryAtScale, tells_when_the_job_cannot_go_on) {
  SimulationOptions without = job_of(8, "spare", 2);
  without.spares = 1;
  RecoverySimulation job(without);
  job.run();
  EXPECT_EQ(job.verdict(), std::nullopt);
  ASSERT_TRUE(job.end().has_value());
  EXPECT_EQ(job.end()->why, Ending::nobody_left);
  // Of four ranks, three die: a rank and the holder of its copy among them.
  RecoverySimulation lossy(job_of(4, "spare", 3));
  lossy.run();
  EXPECT_EQ(lossy.verdict(), std::nullopt);
  EXPECT_FALSE(lossy.lost().empty());
  EXPECT_THROW(RecoverySimulation(job_of(4, "spare", 4)), UsageError);
  // Of four processes, three are silent: the one that is left takes itself for cut off.
  SimulationOptions halved = job_of(4, "shrink", 3);
  halved.finding = Finding::silence;
  RecoverySimulation silent(halved);
  silent.run();
  EXPECT_TRUE(silent.was_cut_off());
  EXPECT_FALSE(job.was_cut_off());
}

TEST(RecoveryAtScale, a_run_is_its_seed) {
  const auto rounds = [](std::uint64_t seed) {
    SimulationOptions options = job_of(40, "spawn", 2);
    options.finding = Finding::silence;
    options.seed = seed;
    RecoverySimulation job(options);
    job.run();
    return std::pair(job.total(), job.messages_sent());
  };
  EXPECT_EQ(rounds(3), rounds(3));
  EXPECT_NE(rounds(3), rounds(4));
}

}  // namespace
}  // namespace mend::recovery
