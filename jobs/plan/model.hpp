// Predicts the cost of failures for a job before it is launched. docs/planning.md derives the formulas.
//
// Whole nodes fail, independently of each other, at a constant rate. A node that fails is replaced by a spare node,
// which may have failed before. The job recovers and rolls back to its last commit. It ends early if no spare is left,
// or if nodes fail so close together that committed data is lost:
//
//   work | commit | work | commit | work X recovery | work | commit | ...
//        `- interval -'           `-lost-'- window -'
//
// During the window, data is not yet as redundant as before. All functions here are pure.

#pragma once

#include "base/clock.hpp"
#include "store/redundancy.hpp"

#include <optional>

namespace mend::jobs {

/// A job and its machine.
struct Scenario {
  int nodes = 1;  ///< that work, without the spares
  int ranks_per_node = 1;
  Seconds node_mtbf{};    ///< mean time between failures of one node
  Seconds work{};         ///< time of the job without failures and commits
  Seconds commit_cost{};  ///< of one commit
  Seconds recovery{};     ///< from a failure until the data is restored and as redundant as before
  int spare_nodes = 0;
  Redundancy redundancy;
  Seconds requeue{};  ///< from the end of a job that cannot continue until the next one begins
  /// With a disk: every `every`-th commit is also written to disk, which costs `cost` in addition.
  struct Disk {
    int every = 10;
    Seconds cost{};
  };
  std::optional<Disk> disk;
};

/// The forecast for a scenario.
struct Forecast {
  Seconds mtbf{};            ///< between failures of any working node
  Seconds interval{};        ///< working time between two commits
  Seconds elapsed{};         ///< with all commits and recoveries, if spares and data last
  double overhead = 0;       ///< of elapsed, as a fraction of the work
  double failures = 0;       ///< expected number during the job, of working nodes
  double out_of_spares = 0;  ///< probability that a job ends because no spare is left
  double data_loss = 0;      ///< probability that a job ends because committed data is lost
  /// The time until the work is done, over all jobs that it takes. Without a disk each job begins anew; with a disk it
  /// continues from the last version on disk. May be infinite.
  Seconds until_done{};
};

/// Forecasts a job that commits after each `interval`; without one, at Daly's interval.
Forecast forecast(const Scenario& scenario, std::optional<Seconds> interval = std::nullopt);

/// Returns only the overhead, for commits after each `interval`. Fast.
double overhead_with(const Scenario& scenario, Seconds interval);

/// Returns the probability that more than `spares` of nodes + spares nodes fail within `time`.
double chance_of_running_out(int nodes, int spares, Seconds node_mtbf, Seconds time);

/// Returns the probability that `failed` nodes, drawn at random, lose data if they fail within one window. Derived from
/// the placement that the store would choose.
double chance_of_loss(const Scenario& scenario, int failed);

/// Returns the smallest number of spare nodes with which the job runs out of spares with at most this probability.
int spares_for(Scenario scenario, double chance);

/// The memory of a rank for other ranks' data, relative to its snapshot; and the data sent by a commit, in snapshots.
double memory_for_others(const Redundancy& redundancy);
double sent_by_commit(const Redundancy& redundancy);

}  // namespace mend::jobs
