// When the ranks ask each other whether any of them was asked from outside (framework/commits/outside_requests.hpp), so
// that a job whose commits are far apart leaves in time too.
//
// To ask costs a small collective call. So they ask about once a second: after as many steps as have taken so long in
// the slowest rank. A commit carries requests by itself, so after one the steps are counted anew, and a job that
// commits more often than that never asks.
//
// Everything depends on what all ranks know, so all ask at the same steps. Pure.

#pragma once

#include "base/clock.hpp"

#include <algorithm>

namespace mend {

class RequestPacing {
 public:
  static constexpr Seconds period{1};

  /// All ranks begin an epoch.
  void restart() { *this = {}; }
  /// Counts a step. Returns true if the ranks have to ask each other at its end.
  bool step() { return ++steps_ >= gap_; }
  /// A commit is due, or all ranks have asked.
  void begin_gap() { steps_ = 0; }
  /// The steps until this question have taken so long in the slowest rank.
  void hear(Seconds longest) {
    const double wanted = gap_ * (period / std::max(longest, Seconds{1e-9}));
    gap_ = std::clamp(wanted, 1.0, 2 * gap_);
  }

  /// After so many steps without a commit they ask.
  double gap() const { return gap_; }

 private:
  double gap_ = 1;
  double steps_ = 0;
};

}  // namespace mend
