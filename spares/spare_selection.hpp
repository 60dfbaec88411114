// Decides which processes are spares at the start of a job, and which spare takes over the rank of a dead process.
//
// All processes agree on which processes are dead. Then each process computes assign_ranks(roster, dead) for itself.
// The function is pure, so all processes get the same new roster without a message.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "spares/failure_policy.hpp"
#include "spares/rank_changes.hpp"
#include "spares/roster.hpp"

#include <span>
#include <vector>

namespace mend {

/// A new roster, and the changes from the old one.
struct RankAssignment {
  Roster roster;
  std::vector<Replacement> replacements;  ///< in rank order
  std::vector<LostRank> given_up;         ///< in rank order, by the numbers of the old roster
  std::vector<Rank> vacant;               ///< ranks without a process that are not given up; their seats name the last
                                          ///< holder. None in a complete plan

  bool complete() const { return vacant.empty(); }
};

/// Selects the processes that become spares, unless whole nodes do.
enum class SparePlacement {
  spread,  ///< the last of each node, so that the loss of one node does not take all spares
  last,    ///< the last of all: ranks have the numbers of processes, and spares those of processes that are missing
};

/// Returns the roster at the start: `ranks` of `processes` hold the ranks, in ascending order of process, and the
/// others are spares. The processes of the last `spare_nodes` nodes become spares first, node by node from the last.
/// The other spares are chosen by `placement`. With too few processes, the last ranks stay vacant. Pure.
RankAssignment first_assignment(std::span<const Placed> processes, int ranks, int spare_nodes = 0,
                                SparePlacement placement = SparePlacement::spread);

/// Returns the roster after the death of `dead`. Each dead process's rank gets a living spare, in rank order: a spare
/// of the dead process's own node if there is one, otherwise a spare of the node that has the most, so that the others
/// stay spread. Dead spares are removed. A rank without a spare stays vacant if `policy` allows the start of a process
/// for it. Otherwise it is given up, if `policy` allows that and another rank remains: it leaves the roster, and the
/// others keep their order. Pure: the same on every process.
RankAssignment assign_ranks(const Roster& roster, const ProcessSet& dead, const Policy& policy = {});

}  // namespace mend
