// Decides when the ranks ask each other whether any of them was asked from outside
// (framework/commits/outside_requests.hpp), so that a job whose commits are far apart also leaves in time.
//
// Each question costs a small collective call. So the ranks ask about once a second: after the number of steps that
// take this time on the slowest rank. A commit exchanges the requests by itself, so the steps are counted from the last
// commit, and a job that commits more often than that never asks.
//
// The decision depends only on data that all ranks know, so all ask at the same steps. Pure.

#pragma once

#include "base/clock.hpp"

#include <algorithm>

namespace mend {

class RequestPacing {
 public:
  static constexpr Seconds period{1};

  /// Begins an epoch. All ranks call it.
  void restart() { *this = {}; }
  /// Counts a step. Returns true if the ranks have to ask each other at its end.
  bool step() { return ++steps_ >= gap_; }
  /// Called when a commit is due, or when all ranks have asked.
  void begin_gap() { steps_ = 0; }
  /// Records that the steps until this question took `longest` on the slowest rank.
  void hear(Seconds longest) {
    const double wanted = gap_ * (period / std::max(longest, Seconds{1e-9}));
    gap_ = std::clamp(wanted, 1.0, 2 * gap_);
  }

  /// Returns the number of steps without a commit after which the ranks ask.
  double gap() const { return gap_; }

 private:
  double gap_ = 1;
  double steps_ = 0;
};

}  // namespace mend
