#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "spares/rank_changes.hpp"

#include <span>
#include <string>
#include <vector>

namespace mend {

/// One recovery: the processes that died, the ranks, and the time of each phase on one process, by its own clock. No
/// time is negative, and the times add up to whole(). The deaths, the ranks and the rounds are the same on all
/// processes.
struct RecoveryReport {
  Epoch epoch;                            ///< the epoch that began with it
  std::vector<ProcessId> dead;            ///< all processes that died since the recovery before, spares included
  std::vector<Replacement> replacements;  ///< in rank order; ranks numbered as before, like those given up
  std::vector<LostRank> given_up;         ///< ranks that were given up, in rank order
  WallClock::time_point noticed;          ///< when this process first knew of a rank's death
  Milliseconds interrupt{};               ///< from noticing until this process had left the body
  Milliseconds agree{};                   ///< until all living processes agreed to recover, and on the dead
  Milliseconds rebuild{};                 ///< until all agreed that there are new communicators
  Milliseconds restore{};                 ///< until the body had its data again (0 if it did not restore)
  std::string machine;                    ///< whose clock measured the times; empty: this process's
  int rounds = 1;                         ///< more than one if a process died during the recovery, or was started

  /// Returns the time until there were new communicators.
  Milliseconds until_rebuilt() const { return interrupt + agree + rebuild; }
  /// Returns the time until the data was restored.
  Milliseconds whole() const { return until_rebuilt() + restore; }

  /// Returns a text such as "epoch 1: rank 2: process 2 died, process 4 took over; interrupt 0.20, agree 0.10, rebuild
  /// 0.40, restore 0.90 ms".
  std::string to_string() const;
};

/// Returns all recoveries of a job in a sentence or two: the deaths, what happened to the ranks, and the times. "2
/// recoveries: 3 processes died, 2 ranks were taken over; 8.1 ms until the data was back (median; 9.0 at most):
/// interrupt 0.3, agree 1.2, rebuild 2.4, restore 4.2 ms". The phases are those of the median recovery.
std::string summarise(std::span<const RecoveryReport> recoveries);

}  // namespace mend
