// Recoveries in simulated time. The cores and the model below them are those of the explorer (recovery_system.hpp); the
// simulator decides when things happen. When a process comes to a call, it sends messages to the processes whose wait
// this ends; they may be lost if it dies. Deaths and errors come at random times, and each process learns of a death at
// its own time. From time to time all processes check again what they wait for, as a control thread does. A run is its
// seed: MEND_SEED=n runs only that one, MEND_SEEDS=n runs n of them.

#include "tests/framework/recovery/drawn_scene.hpp"
#include "tests/framework/recovery/recovery_system.hpp"
#include "tests/support/omitted_rule.hpp"
#include "tests/support/seeds.hpp"
#include "transport/simulated/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mend::recovery {
namespace {

using transport::SimulatedTime;

constexpr SimulatedTime faults_until = std::chrono::microseconds(400);
constexpr SimulatedTime between_looks = std::chrono::milliseconds(1);
constexpr SimulatedTime step_takes = std::chrono::microseconds(20);

transport::NetworkModel network() {
  transport::NetworkModel model;
  model.jitter = std::chrono::microseconds(3);
  return model;
}

template <class Rules>
class SimulatedJob {
 public:
  SimulatedJob(const Scene& scene, std::uint64_t seed)
      : job_(scene),
        random_(seed),
        hand_{static_cast<std::uint32_t>(job_.size())},
        simulator_(hand_.value + 1, network(), seed, *this) {
    std::uniform_int_distribution<std::int64_t> when(0, faults_until.count());
    for (int i = 0; i < scene.deaths + scene.errors; ++i) {
      faults_.push_back(SimulatedTime(when(random_)));
      simulator_.wake(hand_, faults_.back());
    }
    deaths_left_ = scene.deaths;
    for (std::size_t p = 0; p < job_.size(); ++p) lived_[p] = job_.lives(p);
  }

  /// Runs until nothing can happen any more. Returns the promise that was broken, if any.
  std::optional<std::string> run() {
    for (std::uint32_t p = 0; p < job_.size(); ++p) simulator_.wake({p}, SimulatedTime{0});
    simulator_.wake(hand_, between_looks);
    simulator_.run(std::chrono::seconds(1));
    if (!broken_ && !is_at_rest()) broken_ = "Termination: the run does not end";
    return broken_;
  }

  const std::string& told() const { return told_; }
  const System<Rules>& job() const { return job_; }
  /// The time from the first death until all processes were in the body again, or at the end.
  std::optional<SimulatedTime> recovery() const {
    if (!first_death_ || !settled_) return std::nullopt;
    return *settled_ - *first_death_;
  }

  // Called by the simulator.
  void receive(ProcessId to, ProcessId, int) { go_on(to); }
  void dead(ProcessId to, ProcessId gone) {
    take_one(to, [&](const Step& step) { return step.kind == Kind::notice && step.which == gone.value; });
    go_on(to);
  }
  void wake(ProcessId process) { process == hand_ ? strike() : go_on(process); }
  ByteCount size_of(int) const { return 64; }

 private:
  using Kind = typename System<Rules>::Kind;
  using Step = typename System<Rules>::Step;

  bool is_at_rest() const {
    return std::ranges::none_of(job_.steps(), [&](const Step& step) { return job_.progresses(step); });
  }

  /// Takes a random one of the steps of `process` that are wanted.
  template <class Wanted>
  bool take_one(ProcessId process, Wanted wanted) {
    std::vector<Step> all = job_.steps();
    std::erase_if(all, [&](const Step& step) { return step.who != process.value || step.cut != 0 || !wanted(step); });
    if (broken_ || all.empty()) return false;
    take(all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random_)], process);
    return true;
  }

  void go_on(ProcessId process) {
    const bool has_gone_on = take_one(process, [](const Step& step) {
      return step.kind == Kind::go || step.kind == Kind::fail || step.kind == Kind::newcomer_ends;
    });
    if (has_gone_on) simulator_.compute(process, step_takes);
  }

  /// `by` takes the step now. Processes that can continue because of it are told.
  void take(const Step& step, ProcessId by) {
    std::string line;
    job_.take(step, &line);
    decide();
    if (!line.empty())
      told_ += fmt::format("{:9.1f} us\n{}", static_cast<double>(simulator_.clock().count()) / 1e3, line);
    for (std::uint32_t p = 0; p < job_.size(); ++p) {
      if (lived_[p] && !job_.lives(p)) simulator_.kill({p}, simulator_.clock());
      lived_[p] = job_.lives(p);
    }
    for (const Step& next : job_.steps()) {
      const ProcessId other{next.who};
      if (next.kind != Kind::go && next.kind != Kind::fail) continue;
      if (next.cut != 0 || next.which != 0) continue;
      if (other == by) {
        simulator_.wake(other, simulator_.clock());
      } else if (job_.lives(by.value)) {
        simulator_.send(by, other, 0);
      }
    }
    if (auto broken = job_.broken(is_at_rest())) broken_ = broken;
    note_time();
  }

  /// Points that all members have reached are decided at once, because no process can see whether something else
  /// happens before.
  void decide() {
    for (;;) {
      const std::vector<Step> all = job_.steps();
      if (all.empty() || all.front().kind != Kind::decide) return;
      job_.take(all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random_)], nullptr);
    }
  }

  /// Causes a fault, if one is due, and has all processes check again.
  void strike() {
    if (std::erase(faults_, simulator_.clock()) > 0) {
      // Each order of the deaths and errors that are left is as likely as any other.
      const int left = static_cast<int>(faults_.size()) + 1;
      const bool kills = std::uniform_int_distribution<int>(1, left)(random_) <= deaths_left_;
      if (kills) --deaths_left_;
      std::vector<Step> all = job_.steps();
      std::erase_if(all, [&](const Step& step) { return step.kind != (kills ? Kind::crash : Kind::error); });
      if (broken_ || all.empty()) return;
      const Step& step = all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random_)];
      if (kills && !first_death_) first_death_ = simulator_.clock();
      if (kills) settled_.reset();
      take(step, {step.who});
      return;
    }
    if (broken_ || is_at_rest()) return;
    for (const Step& step : job_.steps()) {
      const ProcessId process{step.who};
      if (step.kind == Kind::notice) {
        take_one(process, [&](const Step& other) { return other.kind == Kind::notice; });
      }
    }
    for (std::uint32_t p = 0; p < job_.size(); ++p) simulator_.wake({p}, simulator_.clock());
    simulator_.wake(hand_, simulator_.clock() + between_looks);
  }

  void note_time() {
    if (settled_ || !first_death_) return;
    for (std::uint32_t p = 0; p < job_.size(); ++p) {
      if (!job_.lives(p) || job_.core(p) == nullptr) continue;
      const State state = job_.core(p)->state();
      if (state != State::playing && state != State::parked && !job_.end_of(p)) return;
    }
    settled_ = simulator_.clock();
  }

  System<Rules> job_;
  std::mt19937_64 random_;
  ProcessId hand_;  // a process of the simulator that causes the faults
  std::vector<SimulatedTime> faults_;
  int deaths_left_ = 0;
  std::array<bool, most> lived_{};
  std::optional<std::string> broken_;
  std::optional<SimulatedTime> first_death_;
  std::optional<SimulatedTime> settled_;
  std::string told_;
  transport::Simulator<int, SimulatedJob> simulator_;
};

template <class Rules>
SimulatedJob<Rules> simulated(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return SimulatedJob<Rules>(drawn(random), seed);
}

TEST(RecoveryInTime, holds_whenever_processes_die_and_err) {
  const support::Seeds seeds = support::seeds(2'000, 200);
  std::map<std::string, int> ends;
  std::vector<double> recoveries;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    auto job = simulated<AllRules>(seed);
    const auto broken = job.run();
    ASSERT_EQ(broken, std::nullopt) << job.told() << job.job().describe() << support::to_see_again(seed);
    std::optional<End> end;
    for (std::size_t p = 0; p < job.job().size(); ++p) {
      if (job.job().lives(p) && job.job().end_of(p)) end = job.job().end_of(p);
    }
    ++ends[end ? to_string(Action{*end}) : "nobody lives"];
    if (job.recovery()) recoveries.push_back(static_cast<double>(job.recovery()->count()) / 1e3);
  }
  std::ranges::sort(recoveries);
  std::cout << fmt::format("{} runs, {} of them with deaths\n", seeds.count(), recoveries.size());
  for (const auto& [end, count] : ends) std::cout << fmt::format("  {}: {}\n", end, count);
  if (seeds.count() == 1) return;
  std::cout << fmt::format("from the first death until all go on: median {:.0f} us, longest {:.0f} us\n",
                           recoveries[recoveries.size() / 2], recoveries.back());
  EXPECT_GE(ends.size(), 4U);
  EXPECT_GT(recoveries.size(), seeds.count() / 2);
}

TEST(RecoveryInTime, repeats_itself_to_the_letter) {
  auto first = simulated<AllRules>(7);
  first.run();
  auto second = simulated<AllRules>(7);
  second.run();
  EXPECT_GT(first.told().size(), 500U);
  EXPECT_EQ(first.told(), second.told());
}

/// Returns true if the runs show that `omitted` is missing.
bool is_missed(Rule omitted) {
  const support::Omission<Rule> omission(omitted);
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    if (simulated<support::RulesButOne<Rule>>(seed).run()) return true;
  }
  return false;
}

TEST(RecoveryInTime, brings_missing_rules_to_light) {
  EXPECT_TRUE(is_missed(Rule::call_spares));
  EXPECT_TRUE(is_missed(Rule::agree_on_splitting));
  EXPECT_TRUE(is_missed(Rule::errors_end_one));
  EXPECT_TRUE(is_missed(Rule::survivors_keep_data));
}

}  // namespace
}  // namespace mend::recovery
