#pragma once

#include "transport/simulated/simulator.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace mend::bench {

/// An allreduce by recursive doubling in the simulator, for comparison. It is no agreement, and fails with any process.
class SimulatedAllreduce {
 public:
  /// `processes`: a power of two.
  SimulatedAllreduce(std::uint32_t processes, const transport::NetworkModel& model)
      : simulator_(processes, model, 1, *this), state_(processes) {
    for (std::uint32_t p = 0; p < processes; ++p) simulator_.wake({p}, {});
  }

  /// Returns the time from the start until the last process has the result.
  transport::SimulatedTime run() {
    simulator_.run();
    transport::SimulatedTime last{0};
    for (std::uint32_t p = 0; p < simulator_.size(); ++p) last = std::max(last, simulator_.now({p}));
    return last;
  }

  void wake(ProcessId process) { exchange(process); }
  void dead(ProcessId, ProcessId) {}
  ByteCount size_of(std::uint32_t) const { return 16; }
  void receive(ProcessId to, ProcessId, std::uint32_t round) {
    state_[to.value].heard |= 1U << round;
    while (state_[to.value].round < rounds() && (state_[to.value].heard >> state_[to.value].round & 1U) != 0) {
      ++state_[to.value].round;
      exchange(to);
    }
  }

 private:
  struct State {
    std::uint32_t round = 0;
    std::uint32_t heard = 0;
  };

  std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::countr_zero(simulator_.size())); }
  void exchange(ProcessId process) {
    const std::uint32_t round = state_[process.value].round;
    if (round < rounds()) simulator_.send(process, {process.value ^ (1U << round)}, round);
  }

  transport::Simulator<std::uint32_t, SimulatedAllreduce> simulator_;
  std::vector<State> state_;
};

}  // namespace mend::bench
