// The recovery line: which ranks go back, and how far. A pure function of what all ranks report.
//
// A rank that goes back to the beginning of epoch E needs again every message that it has received since. A sender has
// a copy of those that were logged. The others it has to compute again, so it goes back to the epoch in which it sent
// the first of them. That is repeated until nothing changes. The same function, asked for the case that all ranks
// fail, says which commits and logs can still be needed (the paper's garbage collection).
//
// In the paper: figure 4, lines 9 to 16; section III-A, "Garbage Collection". Added here:
//   - ranks of a cluster go back together;
//   - a message that is not acknowledged may have been received. It is treated as one that was received without a log,
//     if it could have been (Rule::doubt_unacknowledged in protocol.hpp), and if the receiver does not have it where it
//     goes back to (Rule::doubt_what_is_missing).

#pragma once

#include "base/ids.hpp"
#include "replay/counts.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend::replay {

/// What a rank has sent in one of its epochs: a row of the paper's SPE (SentPerEpoch). All vectors are by peer.
struct Row {
  CommitEpoch epoch;
  std::vector<Date> begin;  ///< the last date sent to each peer before this epoch
  std::vector<Date> had;    ///< the last date received from each peer before this epoch
  /// The latest epoch of each peer in which it has received one of these messages that was not logged.
  std::vector<std::optional<CommitEpoch>> received;
  /// The last message to each peer that is not acknowledged, and of which it is not known that it breaks the path where
  /// it is received. Date 0: there is none.
  std::vector<Date> unacknowledged;
};

/// What a rank reports to the holder of the recovery role.
struct Report {
  bool back = false;  ///< it goes back to its last commit in any case: it is a newcomer, or was rolled back before
  CommitEpoch epoch;
  std::vector<Row> rows;  ///< by ascending epoch; the rank has a commit at the beginning of each
  std::vector<Date> has;  ///< the last date received from each peer
};

/// By rank; nothing for ranks that stay.
using Line = std::vector<std::optional<CommitEpoch>>;

/// `clusters`: the number of each rank's cluster. Ranks whose report says `back` go back at least to that epoch.
Line recovery_line(std::span<const Report> reports, std::span<const int> clusters);

/// What `report` says of its rank has received where the rank goes back to, or now if it stays.
const std::vector<Date>& received_by(const Report& report, std::optional<CommitEpoch> target);

/// The line if all ranks failed now: nobody will ever go back further.
Line line_of_all(std::span<const Report> reports, std::span<const int> clusters);

std::string to_string(const Line& line);
void add_to(transport::Fingerprint& print, const Report& report);

}  // namespace mend::replay
