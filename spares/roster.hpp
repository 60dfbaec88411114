// Who plays which rank, and who waits: the cast list of a job, and the rules by which it changes.
//
// Every process keeps the same roster. When processes die, each computes plan(roster, dead) for itself; since all
// have agreed on the dead and the function is pure, all arrive at the same new roster without a word exchanged.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "spares/policy.hpp"
#include "spares/replacement.hpp"

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

/// Who holds a rank.
struct Seat {
  Placed holder;
  int predecessors = 0;  ///< how many held this rank before and died
  Rank origin;           ///< what the rank was numbered at the start; ranks only lose numbers when others are given up
  bool operator==(const Seat&) const = default;
};

struct Roster {
  std::vector<Seat> seats;     ///< by rank
  std::vector<Placed> spares;  ///< in ascending order of process

  int size() const { return static_cast<int>(seats.size()); }
  const Seat& seat(Rank rank) const { return seats[static_cast<std::size_t>(rank.value)]; }
  std::optional<Rank> rank_of(ProcessId process) const;
  /// The present rank of the one that was `origin` at the start; nothing when it was given up.
  std::optional<Rank> now(Rank origin) const;
  /// Everyone in it who is not among `living`.
  ProcessSet absent(const std::vector<ProcessId>& living) const;
  bool operator==(const Roster&) const = default;
};

/// The roster after the death of `dead`.
struct Plan {
  Roster roster;
  std::vector<Replacement> replacements;  ///< in rank order
  std::vector<Loss> given_up;             ///< in rank order, numbered as before
  std::vector<Rank> vacant;               ///< ranks that nobody is there for and that are not given up; their seats
                                          ///< name who held them last. None in a complete plan

  bool complete() const { return vacant.empty(); }
};

/// The first plan: `ranks` of `processes` work, in ascending order of process, the others wait. The spares are spread
/// over the nodes, the last processes of each, so that no single node's loss takes them all. With too few processes
/// the last ranks stay vacant. Pure.
Plan first_plan(std::span<const Placed> processes, int ranks);

/// Who has taken whose rank between two rosters of a job, ranks numbered as in the first. Pure.
std::vector<Replacement> replacements(const Roster& before, const Roster& after);

/// Fills the seats of the dead with living spares: for each, in rank order, one on the dead process's own node if
/// there is one, else one from the node that has most spares left (so that the rest stay spread). Dead spares are
/// dropped. Ranks that nobody is left for stay vacant if `policy` allows to start processes for them; else they are
/// given up if it allows that and a rank remains: they are gone from the roster, in which the others keep their order.
/// Pure: the same on every process.
Plan plan(const Roster& roster, const ProcessSet& dead, const Policy& policy = {});

}  // namespace mend
