#pragma once

#include "base/clock.hpp"

#include <optional>

namespace mend {

/// Decides when to commit: every n steps, or at the interval that minimises the time lost to commits and repeated work.
class CommitSchedule {
 public:
  /// `every`: a positive number of steps, or nothing for the automatic mode. Throws UsageError for a number below 1.
  explicit CommitSchedule(std::optional<int> every);

  bool automatic() const { return automatic_; }

  /// Forgets the steps counted. In automatic mode also forgets the interval, which is measured again. All ranks call
  /// this when an epoch begins.
  void restart();

  /// Counts a step. Returns true if a commit is due at its end.
  bool step();

  /// Returns true if, in automatic mode and after a commit, the costs must be measured before the next step().
  bool wants_measurement() const { return automatic_ && !interval_known_; }

  /// Sets the interval to Daly's, from measured costs and the time between failures. They must be the same on all
  /// ranks.
  void measured(Seconds commit_cost, Seconds step_time, Seconds mtbf);

  int interval() const { return interval_; }
  /// Returns the number of steps counted since a commit was last due.
  int since_commit() const { return since_commit_; }
  void set_since_commit(int steps) { since_commit_ = steps; }

 private:
  bool automatic_ = false;
  bool interval_known_ = false;
  int interval_ = 1;
  int since_commit_ = 0;
};

/// Returns Young's first-order optimum for the time between commits: sqrt(2 · cost · mtbf) (J. W. Young, A first order
/// approximation to the optimum checkpoint interval, CACM 17(9), 1974).
Seconds young_interval(Seconds commit_cost, Seconds mtbf);

/// Returns Daly's higher-order estimate of the same interval, from the end of a commit to the beginning of the next. It
/// is the shorter of the two, and also valid if commits are expensive compared with the time between failures (J. T.
/// Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, FGCS 22(3), 2006, equation 37).
Seconds daly_interval(Seconds commit_cost, Seconds mtbf);

}  // namespace mend
