// The messages between ranks: the program's messages with the protocol's additions, and control messages.

#pragma once

#include "replay/uncoordinated/recovery_line.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mend::replay {

/// The messages `first` to `last` of a channel were received in `epoch`. If `logged`, the sender keeps them.
struct Receipt {
  Date first;
  Date last;
  CommitEpoch epoch;
  bool logged = false;
};

/// One message of the program, on its channel. Channels are FIFO.
struct Letter {
  Date date;
  CommitEpoch epoch;              ///< of the sender, when it was sent
  Phase phase;                    ///< of the sender, when it was sent
  std::uint64_t content = 0;      ///< identifies envelope and bytes for the driver
  bool large = false;             ///< not copied unless it has to be logged, so acknowledged at once
  bool already_logged = false;    ///< the sender keeps it in any case; no acknowledgement is needed
  bool breaks_path = false;       ///< replayed from the log
  bool wants_receipt = false;     ///< the sender keeps too many messages
  std::vector<Receipt> receipts;  ///< piggybacked: the messages received on the channel of the other direction
};

// --- control messages -------------------------------------------------------------------------------------------

struct Receipts {
  std::vector<Receipt> receipts;
};
/// The recovery line, as each rank gets it.
struct Decree {
  Line line;
  /// For each rank that rolls back: the last date that it had sent to the receiver of this before that epoch.
  std::vector<Date> dates;
  /// For each rank: the last date received from the receiver of this, in the state from which the rank continues.
  std::vector<Date> received;
};
/// The lowest phase in which an orphan of the sender is missing; nothing if none is.
struct Missing {
  std::optional<Phase> phase;
};
/// The lowest phase in which an orphan is missing on any rank. Nothing if none is: the recovery is over.
struct Ready {
  std::optional<Phase> floor;
};
/// Asks for a report, for the garbage collection.
struct Ask {};
struct Answer {
  Report report;
};
/// No rank will roll back further than this line any more.
struct Floors {
  Line line;
  /// For each rank: the last date that it had sent to the receiver of this before its epoch of the line.
  std::vector<Date> dates;
};
/// The sender will never again need messages up to this date.
struct Unneeded {
  Date date;
};

using Control = std::variant<Receipts, Report, Decree, Missing, Ready, Ask, Answer, Floors, Unneeded>;

std::string to_string(const Letter& letter);
std::string to_string(const Control& message);
void add_to(transport::Fingerprint& print, const Letter& letter);
void add_to(transport::Fingerprint& print, const Control& message);

}  // namespace mend::replay
