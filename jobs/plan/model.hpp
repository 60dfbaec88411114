// What failures will cost a job, before it is launched. docs/planning.md derives each formula.
//
// Nodes fail independently of each other, at a constant rate, and whole. A node that fails is replaced by a spare node,
// which may have failed before. The job goes back to its last commit and recovers. It ends early when no spare is left,
// and when nodes fail so close together that committed data is lost:
//
//   work | commit | work | commit | work X recovery | work | commit | ...
//        `- interval -'           `-lost-'- window -'
//
// In the window, data is not yet as redundant as before. Every function here is pure.

#pragma once

#include "base/clock.hpp"
#include "store/redundancy.hpp"

#include <optional>

namespace mend::jobs {

/// A job and its machine.
struct Scenario {
  int nodes = 1;  ///< that work; spares come in addition
  int ranks_per_node = 1;
  Seconds node_mtbf{};    ///< mean time between failures of one node
  Seconds work{};         ///< what the job takes when nothing fails and nothing is committed
  Seconds commit_cost{};  ///< of one commit
  Seconds recovery{};     ///< from a failure until the data is back and as redundant as before
  int spare_nodes = 0;
  Redundancy redundancy;
  Seconds requeue{};  ///< from the end of a job that cannot go on until the next one has begun
  /// With a disk: every so many commits, one is written there as well and costs so much more.
  struct Disk {
    int every = 10;
    Seconds cost{};
  };
  std::optional<Disk> disk;
};

/// What to expect of it.
struct Forecast {
  Seconds mtbf{};            ///< between failures of any node that works
  Seconds interval{};        ///< of work between two commits
  Seconds elapsed{};         ///< with all commits and recoveries, if spares and data last
  double overhead = 0;       ///< of elapsed, as a part of the work
  double failures = 0;       ///< expected while it runs, of nodes that work
  double out_of_spares = 0;  ///< chance that a job ends because no spare is left
  double data_loss = 0;      ///< chance that a job ends because committed data is lost
  /// Until the work is done, however many jobs that takes: without a disk each begins anew, with one it goes on from
  /// the last version there. Infinite when that is beyond all measure.
  Seconds until_done{};
};

/// Commits after each `interval`; Daly's, if none is given.
Forecast forecast(const Scenario& scenario, std::optional<Seconds> interval = std::nullopt);

/// The overhead alone, for commits after each `interval`: quick.
double overhead_with(const Scenario& scenario, Seconds interval);

/// The chance that, of so many nodes and spare nodes, more than `spares` fail within `time`.
double chance_of_running_out(int nodes, int spares, Seconds node_mtbf, Seconds time);

/// The chance that `failed` nodes, drawn at random, lose data if they fail within one window. Derived from the
/// placement that the store would choose.
double chance_of_loss(const Scenario& scenario, int failed);

/// The fewest spare nodes with which the job runs out with at most this chance.
int spares_for(Scenario scenario, double chance);

/// Memory beside a snapshot of 1 for what a rank keeps of others, and what a commit of new data sends, in snapshots.
double memory_for_others(const Redundancy& redundancy);
double sent_by_commit(const Redundancy& redundancy);

}  // namespace mend::jobs
