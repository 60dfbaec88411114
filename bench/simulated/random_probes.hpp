// The probing part of a randomised detector like SWIM (Das et al. 2002), as a comparison for the ring. In every round
// each process asks one other, chosen at random, and holds it dead if no answer comes in time.

#pragma once

#include "transport/simulated/simulator.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace mend::bench {

using transport::SimulatedTime;

/// The part of one process. It is pure, like the detector's core.
class Prober {
 public:
  Prober(ProcessId self, std::uint32_t processes) : self_(self), processes_(processes) {}

  /// Returns the process to ask in a new round. `chance` is random.
  ProcessId begin_round(std::uint64_t chance) {
    const auto other = static_cast<std::uint32_t>(chance % (processes_ - 1));
    asked_ = ProcessId{other < self_.value ? other : other + 1};
    return *asked_;
  }
  void answered_by(ProcessId process) {
    if (asked_ == process) asked_.reset();
  }
  /// Returns the process to hold dead when the time is out, if any.
  std::optional<ProcessId> time_out() const { return asked_; }

 private:
  ProcessId self_;
  std::uint32_t processes_;
  std::optional<ProcessId> asked_;  // has not answered yet
};

/// Rounds of probes in the simulator, in step: counts processes that do not answer in time.
class ProbingSimulation {
 public:
  struct Question {
    bool answer = false;
  };

  ProbingSimulation(std::uint32_t processes, const transport::NetworkModel& network, SimulatedTime time_out,
                    std::uint64_t seed)
      : simulator_(processes, network, seed, *this), time_out_(time_out), seed_(seed), ask_next_(processes, true) {
    for (std::uint32_t p = 0; p < processes; ++p) {
      probers_.emplace_back(ProcessId{p}, processes);
      simulator_.wake({p}, SimulatedTime{0});
    }
  }

  /// Runs one round. Returns how many processes held a living process dead.
  std::uint32_t false_suspicions() {
    simulator_.run();
    return suspicions_;
  }

  // The calls of the simulator.
  void receive(ProcessId to, ProcessId from, const Question& question) {
    if (question.answer) {
      probers_[to.value].answered_by(from);
    } else {
      simulator_.send(to, from, Question{true});
    }
  }
  void dead(ProcessId, ProcessId) {}
  void wake(ProcessId process) {
    Prober& prober = probers_[process.value];
    if (!ask_next_[process.value]) {
      if (prober.time_out()) ++suspicions_;
      return;
    }
    ask_next_[process.value] = false;
    simulator_.wake(process, simulator_.now(process) + time_out_);
    simulator_.send(process, prober.begin_round(transport::scramble(seed_, process.value)), Question{});
  }
  ByteCount size_of(const Question&) const { return 0; }

 private:
  transport::Simulator<Question, ProbingSimulation> simulator_;
  SimulatedTime time_out_;
  std::uint64_t seed_;
  std::vector<bool> ask_next_;
  std::vector<Prober> probers_;
  std::uint32_t suspicions_ = 0;
};

/// Rounds without a network, for many processes: how many ask each process, and when all have been asked.
class ProbingRounds {
 public:
  ProbingRounds(std::uint32_t processes, std::uint64_t seed) : seed_(seed), asked_(processes), ever_(processes, false) {
    for (std::uint32_t p = 0; p < processes; ++p) probers_.emplace_back(ProcessId{p}, processes);
  }

  /// Runs the next round. Returns the largest number of processes that ask the same one.
  std::uint32_t longest_queue() {
    std::fill(asked_.begin(), asked_.end(), 0);
    for (std::uint32_t p = 0; p < probers_.size(); ++p) {
      const ProcessId target = probers_[p].begin_round(transport::scramble(seed_, p, rounds_));
      ++asked_[target.value];
      if (!ever_[target.value]) ++covered_;
      ever_[target.value] = true;
    }
    ++rounds_;
    return *std::max_element(asked_.begin(), asked_.end());
  }
  bool everyone_was_asked() const { return covered_ == probers_.size(); }
  std::uint32_t rounds() const { return rounds_; }

 private:
  std::uint64_t seed_;
  std::vector<Prober> probers_;
  std::vector<std::uint32_t> asked_;
  std::vector<bool> ever_;
  std::size_t covered_ = 0;
  std::uint32_t rounds_ = 0;
};

}  // namespace mend::bench
