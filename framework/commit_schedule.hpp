#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string_view>

namespace mend {

/// When to commit: every n steps, or at the interval that loses least time to commits and to repeated work together.
class CommitSchedule {
 public:
  /// `every`: a positive number of steps, or "auto". Throws UsageError for anything else.
  CommitSchedule(std::string_view every, Seconds mtbf);

  bool automatic() const { return automatic_; }

  /// Forgets the steps counted and, in automatic mode, the interval: it is measured anew. All ranks do this together
  /// when an epoch begins.
  void restart();

  /// Counts a step and says whether to commit at its end.
  bool step();

  /// In automatic mode: whether, after a commit, the next step() wants fresh measurements first.
  bool wants_measurement() const { return automatic_ && !interval_known_; }

  /// Sets the interval from measured costs, which must be the same on all ranks.
  void measured(Seconds commit_cost, Seconds step_time);

  int interval() const { return interval_; }

 private:
  bool automatic_ = false;
  bool interval_known_ = false;
  int interval_ = 1;
  int since_commit_ = 0;
  Seconds mtbf_;
};

/// Young's first-order optimum for the time between commits: sqrt(2 · cost · mtbf) (J. W. Young, A first order
/// approximation to the optimum checkpoint interval, CACM 17(9), 1974).
Seconds young_interval(Seconds commit_cost, Seconds mtbf);

}  // namespace mend
