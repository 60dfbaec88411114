// The roster of a job: which process holds which rank, and which processes are spares.
//
// Every process keeps the same roster. spares/spare_selection.hpp decides how it changes when processes die.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"
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
  /// Returns the node of each rank, by rank.
  std::vector<NodeId> nodes() const;
  /// Returns the present number of the rank that was `origin` at the start; nothing if it was given up.
  std::optional<Rank> now(Rank origin) const;
  /// Returns all processes of the roster that are not among `living`.
  ProcessSet absent(const std::vector<ProcessId>& living) const;
  bool operator==(const Roster&) const = default;
};

/// Returns the ranks that other processes have taken over between two rosters of a job. Ranks are numbered as in the
/// first. Pure.
std::vector<Replacement> replacements(const Roster& before, const Roster& after);

}  // namespace mend
