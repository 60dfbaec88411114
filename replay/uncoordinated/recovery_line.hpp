// The recovery line: which ranks roll back, and how far. A pure function of the reports of all ranks.
//
// A rank that rolls back to the beginning of epoch E needs again every message that it has received since. A sender has
// a copy of those that were logged. It has to compute the others again, so it rolls back to the epoch in which it sent
// the first of them. These steps are repeated until nothing changes. The same function, called as if all ranks had
// failed, tells which commits and logs can still be needed (the paper's garbage collection).
//
// In the paper: figure 4, lines 9 to 16; section III-A, "Garbage Collection". Added here:
//   - ranks of a cluster roll back together;
//   - a message that is not acknowledged may have been received. It is treated as received without a log, if that is
//     possible (Rule::doubt_unacknowledged in protocol.hpp), and if the receiver does not have it in the state to which
//     it rolls back (Rule::doubt_what_is_missing).

#pragma once

#include "base/ids.hpp"
#include "replay/uncoordinated/counts.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend::replay {

/// The messages that a rank has sent in one of its epochs: a row of the paper's SPE (SentPerEpoch). All vectors are by
/// peer.
struct Row {
  CommitEpoch epoch;
  std::vector<Date> begin;  ///< the last date sent to each peer before this epoch
  std::vector<Date> had;    ///< the last date received from each peer before this epoch
  /// For each peer, its latest epoch in which it has received one of these messages without a log.
  std::vector<std::optional<CommitEpoch>> received;
  /// For each peer, the last message that is not acknowledged and is not known to break the path at the receiver. Date
  /// 0: there is none.
  std::vector<Date> unacknowledged;
};

/// The report of a rank to the holder of the recovery role.
struct Report {
  bool back = false;  ///< it rolls back to its last commit in any case: a newcomer, or rolled back before
  CommitEpoch epoch;
  std::vector<Row> rows;  ///< by ascending epoch; the rank has a commit at the beginning of each
  std::vector<Date> has;  ///< the last date received from each peer
};

/// The epoch to which each rank rolls back, by rank; nothing for ranks that stay.
using Line = std::vector<std::optional<CommitEpoch>>;

/// Returns the recovery line. `clusters`: the number of each rank's cluster. Ranks whose report has `back` set roll
/// back at least to the epoch of the report.
Line recovery_line(std::span<const Report> reports, std::span<const int> clusters);

/// Returns the dates that the rank of `report` has received in the state to which it rolls back, or now if it stays.
const std::vector<Date>& received_by(const Report& report, std::optional<CommitEpoch> target);

/// Returns the last date that the rank of `report` had sent to `peer` before the epoch to which it rolls back; 0 if it
/// stays.
Date sent_before(const Report& report, std::optional<CommitEpoch> target, std::size_t peer);

/// Returns the line for the case that all ranks failed now. No rank will ever roll back further.
Line line_of_all(std::span<const Report> reports, std::span<const int> clusters);

std::string to_string(const Line& line);
void add_to(transport::Fingerprint& print, const Report& report);

}  // namespace mend::replay
