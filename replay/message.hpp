// What ranks tell each other: the program's messages with what the protocol adds to them, and control messages.

#pragma once

#include "replay/recovery_line.hpp"

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
  std::uint64_t content = 0;      ///< by which the driver finds envelope and bytes
  bool large = false;             ///< not copied unless it has to be logged, so acknowledged at once
  bool already_logged = false;    ///< the sender keeps it whatever the receiver says; no acknowledgement is needed
  bool breaks_path = false;       ///< replayed from the log
  bool wants_receipt = false;     ///< the sender keeps too many
  std::vector<Receipt> receipts;  ///< piggybacked: what was received on the channel of the other direction
};

// --- control messages -------------------------------------------------------------------------------------------

struct Receipts {
  std::vector<Receipt> receipts;
};
/// The line.
struct Decree {
  Line line;
  std::vector<Date> dates;     ///< of each rank that goes back: the last date it has sent to the reader of this before
  std::vector<Date> received;  ///< of each rank: the last date it has received from the reader, where it goes on from
};
/// The lowest phase in which an orphan is missing; nothing if none is.
struct Missing {
  std::optional<Phase> phase;
};
/// The lowest phase in which an orphan is missing anywhere; nothing if none is: the recovery is over.
struct Ready {
  std::optional<Phase> floor;
};
/// Asks for a report, for the garbage collection.
struct Ask {};
struct Answer {
  Report report;
};
/// Nobody goes back further than that any more.
struct Floors {
  Line line;
};
/// The sender of this will never again need messages up to this date.
struct Unneeded {
  Date date;
};

using Control = std::variant<Receipts, Report, Decree, Missing, Ready, Ask, Answer, Floors, Unneeded>;

std::string to_string(const Letter& letter);
std::string to_string(const Control& message);
void add_to(transport::Fingerprint& print, const Letter& letter);
void add_to(transport::Fingerprint& print, const Control& message);

}  // namespace mend::replay
