// When this process is to commit, from what commits and steps cost and how often processes die, and what its commits
// have cost in the end.

#pragma once

#include "base/clock.hpp"
#include "framework/commits/commit_economy.hpp"
#include "framework/commits/commit_schedule.hpp"
#include "framework/options.hpp"
#include "framework/epoch/recovery_history.hpp"

#include <mpi.h>

#include <optional>

namespace mend {

class CommitPacing {
 public:
  explicit CommitPacing(const Options& options) : schedule_(options.commit_every.steps), given_mtbf_(options.mtbf) {}

  /// This process has its first rank.
  void begin_work() { since_rank_ = Stopwatch(); }
  void begin_epoch() { schedule_.restart(); }
  /// A step begins that no commit_due() came before.
  void begin_step() { step_watch_ = Stopwatch(); }

  /// One more step is done: whether it is time for a commit. The same on all ranks. Collective over `comm`, whose
  /// errors are thrown, when a measurement is due.
  bool due(const RecoveryHistory& history, const StoreStatistics& store, MPI_Comm comm);

  CommitEconomy economy(const RecoveryHistory& history, const StoreStatistics& store) const;
  Seconds run_time() const { return since_start_.elapsed(); }

 private:
  void measure(Seconds step_with_commit, RecoveryHistory::Commits commits, std::size_t failures, MPI_Comm comm);

  CommitSchedule schedule_;
  std::optional<Seconds> given_mtbf_;
  Stopwatch since_start_;
  Stopwatch since_rank_;
  Stopwatch step_watch_;
};

}  // namespace mend
