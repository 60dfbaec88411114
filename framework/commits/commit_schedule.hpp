#pragma once

#include "base/clock.hpp"

#include <optional>

namespace mend {

/// When to commit: every n steps, or at the interval that loses least time to commits and to repeated work together.
class CommitSchedule {
 public:
  /// `every`: a positive number of steps; none for the automatic mode. Throws UsageError for a number below 1.
  explicit CommitSchedule(std::optional<int> every);

  bool automatic() const { return automatic_; }

  /// Forgets the steps counted and, in automatic mode, the interval: it is measured anew. All ranks do this together
  /// when an epoch begins.
  void restart();

  /// Counts a step and says whether to commit at its end.
  bool step();

  /// In automatic mode: whether, after a commit, the next step() wants fresh measurements first.
  bool wants_measurement() const { return automatic_ && !interval_known_; }

  /// Sets the interval, Daly's, from measured costs and the time between failures, which must be the same on all ranks.
  void measured(Seconds commit_cost, Seconds step_time, Seconds mtbf);

  int interval() const { return interval_; }
  /// Steps counted since a commit was due last.
  int since_commit() const { return since_commit_; }
  void set_since_commit(int steps) { since_commit_ = steps; }

 private:
  bool automatic_ = false;
  bool interval_known_ = false;
  int interval_ = 1;
  int since_commit_ = 0;
};

/// Young's first-order optimum for the time between commits: sqrt(2 · cost · mtbf) (J. W. Young, A first order
/// approximation to the optimum checkpoint interval, CACM 17(9), 1974).
Seconds young_interval(Seconds commit_cost, Seconds mtbf);

/// Daly's higher-order estimate of the same, from the end of a commit to the beginning of the next. It is the shorter
/// of the two, and sound when commits are not cheap beside the time between failures (J. T. Daly, A higher order
/// estimate of the optimum checkpoint interval for restart dumps, FGCS 22(3), 2006, equation 37).
Seconds daly_interval(Seconds commit_cost, Seconds mtbf);

}  // namespace mend
