// The runs of a recovery that a newcomer to the code should read first, kept in golden/; and many larger random runs. A
// random run is its seed: MEND_SEED=n runs only that one, MEND_SEEDS=n runs n of them.

#include "tests/support/omitted_rule.hpp"
#include "tests/support/golden.hpp"
#include "tests/framework/recovery/drawn_scene.hpp"
#include "tests/framework/recovery/recovery_system.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <random>

namespace mend::recovery {
namespace {

using Job = System<AllRules>;
using Kind = Job::Kind;

Policy policy(const char* text) { return Policy::parse(text); }

/// A run in which the processes take turns, and faults come where the test orders them.
class ScriptedRun {
 public:
  explicit ScriptedRun(Scene scene) : job_((scene.deaths = 9, scene.errors = 9, scene)) {
    text_ = fmt::format("{} ranks, {} spares, {} to be started\n", scene.ranks, scene.spares, scene.newcomers);
  }

  void dies(std::uint8_t p) { job_.take({Kind::crash, p, 0, 0}, &text_); }
  void errs(std::uint8_t p) { job_.take({Kind::error, p, 0, 0}, &text_); }
  void until(std::uint8_t p, State state) {
    go_on([&] { return job_.core(p) != nullptr && job_.core(p)->state() == state; });
    ASSERT_TRUE(job_.core(p) != nullptr && job_.core(p)->state() == state) << text_;
  }
  void expect_golden(const std::string& name) {
    go_on([] { return false; });
    EXPECT_EQ(job_.broken(true), std::nullopt) << text_;
    testing::expect_golden("recovery_" + name, text_ + job_.describe());
  }

 private:
  template <class Reached>
  void go_on(Reached reached) {
    while (!reached()) {
      const auto next = next_step();
      if (!next) return;
      if (next->kind != Kind::decide) last_ = next->who;
      job_.take(*next, &text_);
    }
  }

  /// The next step of the process whose turn it is. It learns of deaths and failures only if it has no other step.
  std::optional<Job::Step> next_step() const {
    std::optional<Job::Step> best;
    const auto lateness = [&](const Job::Step& step) {
      const auto kind = step.kind == Kind::decide || step.kind == Kind::go ? 0 : step.kind == Kind::fail ? 1 : 2;
      const auto turn = (step.who + job_.size() - last_ - 1U) % job_.size();
      return std::pair<int, std::size_t>(kind, turn);
    };
    for (const Job::Step& step : job_.steps()) {
      if (job_.progresses(step) && step.which == 0 && (!best || lateness(step) < lateness(*best))) best = step;
    }
    if (best) return best;
    for (const Job::Step& step : job_.steps()) {
      if (job_.progresses(step)) return step;
    }
    return best;
  }

  Job job_;
  std::string text_;
  std::size_t last_ = 0;
};

TEST(RecoveryRuns, one_rank_dies) {
  ScriptedRun run({.ranks = 3, .spares = 1});
  run.dies(1);
  run.expect_golden("one_rank_dies");
}

TEST(RecoveryRuns, rank_0_dies) {
  ScriptedRun run({.ranks = 3, .spares = 1});
  run.dies(0);
  run.expect_golden("rank_0_dies");
}

TEST(RecoveryRuns, two_ranks_die_at_once) {
  ScriptedRun run({.ranks = 4, .spares = 2});
  run.dies(0);
  run.dies(2);
  run.expect_golden("two_die_at_once");
}

TEST(RecoveryRuns, another_rank_dies_while_communicators_are_made) {
  ScriptedRun run({.ranks = 3, .spares = 2});
  run.dies(0);
  run.until(2, State::splitting);
  run.dies(2);
  run.expect_golden("another_dies_in_the_round");
}

TEST(RecoveryRuns, the_spare_that_takes_over_dies) {
  ScriptedRun run({.ranks = 3, .spares = 2});
  run.dies(1);
  run.until(3, State::confirming);
  run.dies(3);
  run.expect_golden("spare_dies");
}

TEST(RecoveryRuns, a_process_is_started) {
  ScriptedRun run({.ranks = 3, .spares = 0, .newcomers = 1, .policy = policy("spare,spawn")});
  run.dies(1);
  run.expect_golden("process_started");
}

TEST(RecoveryRuns, the_first_host_cannot_start_a_process) {
  ScriptedRun run({.ranks = 3, .spares = 0, .newcomers = 2, .policy = policy("spare,spawn")});
  run.dies(1);
  run.until(0, State::finding);
  run.errs(0);
  run.expect_golden("another_host");
}

TEST(RecoveryRuns, the_newcomer_dies_before_it_is_in) {
  ScriptedRun run({.ranks = 3, .spares = 0, .newcomers = 2, .policy = policy("spare,spawn")});
  run.dies(1);
  run.until(0, State::connecting);
  run.dies(3);
  run.expect_golden("newcomer_dies");
}

TEST(RecoveryRuns, a_process_has_an_error_of_its_own) {
  ScriptedRun run({.ranks = 3, .spares = 2});
  run.dies(1);
  run.until(2, State::settling);
  run.errs(2);
  run.expect_golden("error_of_one");
}

TEST(RecoveryRuns, a_process_cannot_make_its_communicators) {
  ScriptedRun run({.ranks = 3, .spares = 2});
  run.dies(1);
  run.until(4, State::splitting);
  run.errs(4);
  run.expect_golden("error_in_a_split");
}

TEST(RecoveryRuns, the_rank_is_given_up) {
  ScriptedRun run({.ranks = 3, .spares = 0, .policy = policy("spare,shrink")});
  run.dies(1);
  run.expect_golden("rank_given_up");
}

TEST(RecoveryRuns, nobody_is_left_and_what_is_left_is_saved) {
  ScriptedRun run({.ranks = 3, .spares = 0, .disk = true});
  run.dies(1);
  run.expect_golden("ends_with_a_sentence");
}

TEST(RecoveryRuns, a_rank_would_die_again_and_the_spare_is_not_used_up) {
  ScriptedRun run({.ranks = 3, .spares = 1, .newcomers = 1, .policy = policy("spare,spawn"), .faulty = true});
  run.dies(1);
  run.expect_golden("would_die_again");
}

TEST(RecoveryRuns, a_rank_dies_while_others_finish) {
  ScriptedRun run({.ranks = 3, .spares = 1});
  run.until(0, State::balloting);
  run.dies(2);
  run.expect_golden("dies_while_others_finish");
}

// ---- random runs

struct Drawn {
  std::optional<std::string> broken;
  std::string told;
  std::optional<End> end;
  std::uint64_t steps = 0;
};

template <class Rules>
Drawn run_by_chance(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  System<Rules> job(drawn(random));
  Drawn run;
  const double faults = std::uniform_real_distribution<double>(0.0, 0.06)(random);
  for (;;) {
    std::vector<typename System<Rules>::Step> good;
    std::vector<typename System<Rules>::Step> bad;
    for (const auto& step : job.steps()) (job.progresses(step) ? good : bad).push_back(step);
    run.broken = job.broken(good.empty());
    if (run.broken || good.empty()) break;
    const bool fault = !bad.empty() && std::uniform_real_distribution<double>(0.0, 1.0)(random) < faults;
    const auto& from = fault ? bad : good;
    System<Rules> next = job;
    const auto& step = from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
    if (!next.take(step, &run.told)) continue;
    job = std::move(next);
    if (++run.steps > 100'000) run.broken = "Termination: the run does not end";
    if (run.broken) break;
  }
  for (std::size_t p = 0; p < job.size(); ++p) {
    if (job.lives(p) && job.end_of(p)) run.end = job.end_of(p);
  }
  run.told += job.describe();
  return run;
}

TEST(RecoverySimulation, holds_in_larger_jobs_with_many_faults) {
  const support::Seeds seeds = support::seeds(3'000, 300);
  std::map<std::string, int> ends;
  std::uint64_t steps = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Drawn run = run_by_chance<AllRules>(seed);
    ASSERT_EQ(run.broken, std::nullopt) << run.told << support::to_see_again(seed);
    ++ends[run.end ? to_string(Action{*run.end}) : "nobody lives"];
    steps += run.steps;
  }
  std::cout << fmt::format("{} runs, {} steps\n", seeds.count(), steps);
  for (const auto& [end, count] : ends) std::cout << fmt::format("  {}: {}\n", end, count);
  if (seeds.count() > 1) {
    EXPECT_GE(ends.size(), 4U);
  }
}

TEST(RecoverySimulation, repeats_itself_to_the_letter) {
  const std::string first = run_by_chance<AllRules>(7).told;
  EXPECT_GT(first.size(), 500U);
  EXPECT_EQ(first, run_by_chance<AllRules>(7).told);
}

/// Returns true if random runs show that `omitted` is missing.
bool is_missed(Rule omitted) {
  const support::Omission<Rule> omission(omitted);
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    if (run_by_chance<support::RulesButOne<Rule>>(seed).broken) return true;
  }
  return false;
}

TEST(RecoverySimulation, brings_missing_rules_to_light) {
  EXPECT_TRUE(is_missed(Rule::revoke_when_leaving));
  EXPECT_TRUE(is_missed(Rule::call_spares));
  EXPECT_TRUE(is_missed(Rule::settle_before_ending));
  EXPECT_TRUE(is_missed(Rule::agree_on_splitting));
  EXPECT_TRUE(is_missed(Rule::errors_end_one));
  EXPECT_TRUE(is_missed(Rule::survivors_keep_data));
}

}  // namespace
}  // namespace mend::recovery
