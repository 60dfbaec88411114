// Decides when this process commits, from the cost of commits and steps and the time between failures, and sums up the
// cost of its commits.

#pragma once

#include "base/clock.hpp"
#include "framework/commits/commit_economy.hpp"
#include "framework/commits/commit_schedule.hpp"
#include "framework/commits/request_pacing.hpp"
#include "framework/options.hpp"
#include "framework/epoch/recovery_history.hpp"

#include <mpi.h>

#include <optional>

namespace mend {

class CommitPacing {
 public:
  explicit CommitPacing(const Options& options) : schedule_(options.commit_every.steps), given_mtbf_(options.mtbf) {}

  /// Call this when the process gets its first rank.
  void begin_work() { since_rank_ = Stopwatch(); }
  void begin_epoch() {
    schedule_.restart();
    request_pacing_.restart();
    request_watch_ = Stopwatch();
  }
  /// Call this when a step begins without a call of due() before it.
  void begin_step() { step_watch_ = Stopwatch(); }

  /// Counts a step, and returns true if a commit is due. The same on all ranks. Collective over `comm`, whose errors
  /// are thrown, if a measurement is due.
  bool due(const RecoveryHistory& history, const StoreStatistics& store, MPI_Comm comm);

  /// Returns true if `is_due`, the result of due(), or if any rank was asked from outside. `was_asked`: this rank was.
  /// The same on all ranks. Collective over `comm`, whose errors are thrown, if the ranks have to ask each other.
  bool due_by_request(bool is_due, bool was_asked, MPI_Comm comm);

  /// Returns the number of steps that due() has counted since it last returned true. Local.
  int steps_since_commit() const { return schedule_.since_commit(); }
  void set_steps_since_commit(int steps) { schedule_.set_since_commit(steps); }

  CommitEconomy economy(const RecoveryHistory& history, const StoreStatistics& store) const;
  Seconds run_time() const { return since_start_.elapsed(); }

 private:
  void measure(Seconds step_with_commit, RecoveryHistory::Commits commits, std::size_t failures, MPI_Comm comm);

  CommitSchedule schedule_;
  RequestPacing request_pacing_;
  Stopwatch request_watch_;  // since the last commit that was due, or the last question
  std::optional<Seconds> given_mtbf_;
  Stopwatch since_start_;
  Stopwatch since_rank_;
  Stopwatch step_watch_;
};

}  // namespace mend
