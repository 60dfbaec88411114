// The roster of a job: which process holds which rank, and which processes wait. And the rules by which it changes.
//
// Every process keeps the same roster. When processes die, each process computes plan(roster, dead) for itself. All
// have agreed on the dead, and the function is pure. So all get the same new roster without a message.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "spares/failure_policy.hpp"
#include "spares/rank_changes.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// A process and the node it runs on.
struct Placed {
  ProcessId process;
  NodeId node;
  bool operator==(const Placed&) const = default;
};

/// The process that holds a rank.
struct Seat {
  Placed holder;
  int predecessors = 0;  ///< how many processes held this rank before and died
  Rank origin;           ///< the number of the rank at the start of the job
  bool operator==(const Seat&) const = default;
};

struct Roster {
  std::vector<Seat> seats;     ///< by rank
  std::vector<Placed> spares;  ///< in ascending order of process

  int size() const { return static_cast<int>(seats.size()); }
  const Seat& seat(Rank rank) const { return seats[static_cast<std::size_t>(rank.value)]; }
  std::optional<Rank> rank_of(ProcessId process) const;
  /// The present number of the rank that was `origin` at the start; nothing when it was given up.
  std::optional<Rank> now(Rank origin) const;
  /// All processes in it that are not among `living`.
  ProcessSet absent(const std::vector<ProcessId>& living) const;
  bool operator==(const Roster&) const = default;
};

/// The roster after the death of `dead`.
struct Plan {
  Roster roster;
  std::vector<Replacement> replacements;  ///< in rank order
  std::vector<Loss> given_up;             ///< in rank order, numbered as before
  std::vector<Rank> vacant;               ///< ranks without a process that are not given up; their seats name the last
                                          ///< holder. None in a complete plan

  bool complete() const { return vacant.empty(); }
};

/// The first plan: `ranks` of `processes` work, in ascending order of process, and the others wait. The spares are the
/// last processes of each node, spread over the nodes, so that the loss of one node does not take all spares. With too
/// few processes the last ranks stay vacant. Pure.
Plan first_plan(std::span<const Placed> processes, int ranks);

/// Which process has taken over which rank between two rosters of a job. Ranks are numbered as in the first. Pure.
std::vector<Replacement> replacements(const Roster& before, const Roster& after);

/// Fills the seats of the dead with living spares, in rank order. A seat gets a spare of the dead process's own node if
/// there is one; otherwise one from the node with most spares left, so that the rest stay spread. Dead spares are
/// removed. A rank without a spare stays vacant if `policy` allows to start a process for it; otherwise it is given up,
/// if `policy` allows that and a rank remains. A rank that is given up leaves the roster; the others keep their order.
/// Pure: the same on every process.
Plan plan(const Roster& roster, const ProcessSet& dead, const Policy& policy = {});

}  // namespace mend
