// Decides when the ranks ask each other how large their logs of messages are
// (framework/local_rollback/local_rollback.hpp), so that all commit at the same step before one is full.
//
// Each question costs a small collective call. So the ranks ask again when half of the steps until three quarters of
// what commits can free are done, if logs continue to grow as in this interval. They ask at the latest when they have
// done as many steps again as before, because programs change. A job whose logs stay small asks as often as the
// logarithm of its steps.
//
// The decision depends only on data that all ranks know, so all ask at the same steps. So does a process that takes
// over a rank with the state of the last commit. Pure.

#pragma once

#include <algorithm>
#include <cstdint>

namespace mend {

class LogPacing {
 public:
  struct State {
    std::uint64_t steps = 0;     ///< done so far
    std::uint64_t next_ask = 1;  ///< the number of steps at which the ranks ask next
    std::uint64_t ahead = 1;     ///< how many steps a log must have room for, from the question to the published commit
    bool operator==(const State&) const = default;
  };

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

  /// Called when the ranks commit asynchronously: the older logs are needed for another step then.
  void commits_asynchronously() { state_.ahead = 2; }

  /// Counts a step. Returns true if the ranks have to ask each other now.
  bool step() { return ++state_.steps >= state_.next_ask; }

  /// Records that the largest log has `fixed` bytes, which no commit frees, and `largest` more bytes after
  /// `steps_of_interval` steps. Returns true if a commit is due.
  bool hear(std::uint64_t fixed, std::uint64_t largest, std::uint64_t limit, std::uint64_t steps_of_interval) {
    if (fixed >= limit) {  // commits do not help
      state_.next_ask = 2 * state_.steps;
      return false;
    }
    const double most = 0.75 * static_cast<double>(limit - fixed);
    const double rate =
        static_cast<double>(largest) / static_cast<double>(std::max<std::uint64_t>(steps_of_interval, 1));
    const double left = most - static_cast<double>(largest);
    const double gap = rate > 0 ? left / rate / 2 : static_cast<double>(state_.steps);
    const double furthest = static_cast<double>(std::max<std::uint64_t>(state_.steps, 1));
    state_.next_ask = state_.steps + static_cast<std::uint64_t>(std::clamp(gap, 1.0, furthest));
    return left < static_cast<double>(state_.ahead) * rate;
  }

 private:
  State state_;
};

}  // namespace mend
