// When the ranks ask each other how large their logs of messages are (framework/local_rollback/local_rollback.hpp), so
// that all commit at the same step before one is full.
//
// To ask costs a small collective call. So the ranks ask again when half of the steps until three quarters of the limit
// are done, if logs go on growing as in this interval; and at the latest when they have done as many steps again as
// before, because programs change. A job whose logs stay small asks as often as the logarithm of its steps.
//
// Everything depends on what all ranks know, so all ask at the same steps, and so does a process that takes over a rank
// with the state of the last commit. Pure.

#pragma once

#include <algorithm>
#include <cstdint>

namespace mend {

class LogPacing {
 public:
  struct State {
    std::uint64_t steps = 0;     ///< done so far
    std::uint64_t next_ask = 1;  ///< when so many are done
    bool operator==(const State&) const = default;
  };

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

  /// Counts a step. Returns true if the ranks have to ask each other now.
  bool step() { return ++state_.steps >= state_.next_ask; }

  /// The largest log has so many bytes, after so many steps of the interval. Returns true if a commit is due.
  bool hear(std::uint64_t largest, std::uint64_t limit, std::uint64_t steps_of_interval) {
    const double most = 0.75 * static_cast<double>(limit);
    const double rate =
        static_cast<double>(largest) / static_cast<double>(std::max<std::uint64_t>(steps_of_interval, 1));
    const double left = most - static_cast<double>(largest);
    const double gap = rate > 0 ? left / rate / 2 : static_cast<double>(state_.steps);
    const double furthest = static_cast<double>(std::max<std::uint64_t>(state_.steps, 1));
    state_.next_ask = state_.steps + static_cast<std::uint64_t>(std::clamp(gap, 1.0, furthest));
    return left < rate;
  }

 private:
  State state_;
};

}  // namespace mend
