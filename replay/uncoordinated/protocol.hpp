// The replay protocol of one rank. It decides which ranks roll back when one dies, which messages are logged so that
// the others can stay, and in which order messages are replayed. It uses no MPI, clocks or sockets.
//
// It follows the paper on uncoordinated checkpointing for send-deterministic applications. docs/replay.md has the idea,
// an index from the paper's lines to the functions here, and each difference from the paper with its reason.
//
// The picture
// -----------
//      rank 0, epoch 1  ---m0--------------o(stays)------------------ m7 -->
//                          \  logged       ^ m3: orphan
//      rank 1, epoch 2  -H--o--m1---o------/---------- dies: back to H
//                               \  ^ m2: logged
//      rank 2, epoch 1  ---------o-/---------------------------------------
//
// Rank 1 computes again from H. It is sent m0 and m2 from the logs of ranks 0 and 2, which stay. It sends m1 and m3
// again; ranks 2 and 0 have them, and discard them. m2 depends on m1, so it may arrive only after m1 was sent again: m0
// has phase 1, m1 is an orphan in phase 2, m2 has phase 2, and a kept message waits for the orphans of its phase.
//
// Dates
// -----
// The paper's date counts the messages that a rank sends and receives. How many messages a send-deterministic rank has
// received when it sends is not the same in all runs (receives may be non-blocking), so here a date numbers the
// messages of a channel.
//
// A recovery
// ----------
//   all        Recovers: stop; a lost rank restores its last commit         Report      -> holder
//   holder     has all reports: computes the line                           Decree      -> all
//   all        a rank on the line that was not lost restores; then it
//              finds its orphans and the messages to replay                 Missing     -> holder
//   holder     computes the lowest phase in which one is missing            Ready       -> all
//   all        kept messages below it are sent; a rank that stayed
//              continues if its phase is below it, a rank that rolled back
//              if its phase is not above it
//   all        the last orphan of a rank's lowest phase arrives             Missing     -> holder
//   holder     no orphan is missing                                         Ready(none) -> all: the recovery is over
//
// A further death begins a new round with any holder. All ranks report again, so no knowledge of the old holder is
// needed. Ranks that rolled back and have not learned of the end begin again from their commit.
//
// What the driver must ensure
// ---------------------------
//   - a message is delivered in the round in which it was sent, or never; channels are FIFO in a round;
//   - a commit of a cluster is published on all its ranks or on none, and outlives them;
//   - a restored rank continues from the commit, and sends the same messages as before.
//
// Limits
// ------
// A rank that was rolled back makes no commit until the recovery is over. Until then it may have to send again from an
// epoch below that of its receiver, and a later failure may take it back to an epoch below those of the failed ranks.
// The line of all accounts for that, so its commit is still there.

#pragma once

#include "base/ids.hpp"
#include "base/rules.hpp"
#include "replay/uncoordinated/recovery_line.hpp"
#include "replay/uncoordinated/message.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace mend::replay {

/// The rules of the protocol, one by one, so that a test can leave one out and show that it is needed.
enum class Rule : std::uint8_t {
  log_past_to_future,      ///< a message from an epoch to a later one is kept
  commit_raises_phase,     ///< the phase grows at a commit
  logged_raises_phase,     ///< the phase grows beyond that of a logged message
  replayed_raises_phase,   ///< ... also when it is replayed to a receiver that is in an earlier epoch now
  kept_wait_for_phase,     ///< a kept message waits for the orphans of its phase, and of lower ones
  rolled_back_wait_below,  ///< a rank that rolled back waits for the orphans of lower phases only
  survivors_wait,          ///< a rank that stayed waits for the orphans of its phase, and of lower ones
  commit_after_counting,   ///< epoch and phase grow before the commit is made, not after it
  compare_with_last_date,  ///< a message is known if its date is not above the last one of its channel
  acknowledge_duplicates,  ///< a message that is known is acknowledged again
  first_epoch_counts,      ///< ... with the epoch in which it was first received, and as logged if it was logged then
  commit_unacknowledged,   ///< messages that are not acknowledged belong to a commit
  resend_unacknowledged,   ///< they are sent again after a recovery
  doubt_unacknowledged,    ///< they count as received without a log if they could have been
  doubt_what_is_missing,   ///< ... only if the receiver does not have them in the state to which it rolls back
  doubt_of_the_commit,     ///< ... for the line of all, also if they were not acknowledged in the last commit
  replay_what_is_missing,  ///< kept messages that the receiver lacks are due, whatever the epoch in which it had them
  replayed_is_unacknowledged,  ///< a replayed message has no receipt until the next one comes
  begin_again,  ///< a failure before the end of a recovery: the ranks that rolled back return to their commit again
  no_commit_in_recovery,  ///< a rank that rolled back commits when the recovery is over
  keep_the_line_of_all,   ///< commits are dropped below the line of all, not below the smallest epoch
};

/// The protocol's part of a commit. It is kept with the rank's data.
struct Commit {
  struct Kept {
    Date date;
    CommitEpoch epoch;
    Phase phase;
    std::uint64_t content = 0;
    bool large = false;
    bool breaks_path = false;             ///< it has been logged, so its receiver raises its phase
    std::optional<CommitEpoch> received;  ///< nothing if it is not acknowledged
    bool due = false;                     ///< to be sent again as soon as its phase is ready
  };
  /// The messages received on one channel in one phase of the receiver: a row of the paper's RPP (ReceivedPerPhase).
  /// The first row also has those of earlier rows that Collects has merged with it.
  struct Received {
    Phase phase;
    CommitEpoch epoch;
    Date last;
    Date last_logged;  ///< messages of this phase up to this one were logged
  };
  struct Channel {
    Date sent;
    std::vector<Kept> kept;  ///< logged or not acknowledged, by ascending date
    std::vector<Received> received;
    Date told;  ///< the last message for which a receipt was sent
  };

  CommitEpoch epoch;
  Phase phase;
  std::vector<Row> rows;  ///< SPE
  std::vector<Channel> channels;
};

// --- events -----------------------------------------------------------------------------------------------------

/// The program sends a message. Only if may_run().
struct Sends {
  Rank to;
  std::uint64_t content = 0;
  bool large = false;
};
/// A message of the program has arrived: one that the program waits for, or one that is_known(). Only if listens().
struct Arrives {
  Rank from;
  Letter letter;
};
/// The rank's cluster has committed. Only if may_commit().
struct Commits {};
/// Ranks have died, and other processes hold them now. Messages on their way are lost. `holder` has the recovery role.
struct Recovers {
  std::uint32_t round;  ///< numbers recoveries; messages are delivered in the round in which they were sent
  Rank holder;
};
/// The rank's data is that of this commit.
struct Restored {
  Commit commit;
};
struct Hears {
  Rank from;
  Control message;
};
/// Drops everything that is not needed any more, on all ranks. An event of one rank. Not while a recovery is under way.
struct Collects {};

using Event = std::variant<Sends, Arrives, Commits, Recovers, Restored, Hears, Collects>;

// --- actions ----------------------------------------------------------------------------------------------------

struct Send {
  Rank to;
  Letter letter;
};
struct Tell {
  Rank to;
  Control message;
};
/// The program receives the message.
struct Deliver {
  Rank from;
  std::uint64_t content = 0;
};
/// The message is known; the program never sees it.
struct Discard {
  Rank from;
  Date date;
};
/// Keep this with the data of the commit.
struct Save {
  Commit commit;
};
/// Take the rank's data back to the commit at the beginning of `epoch`, and drop later commits. The next event is
/// Restored.
struct Restore {
  CommitEpoch epoch;
};
/// Commits before `epoch` are not needed any more.
struct DropCommits {
  CommitEpoch before;
};

using Action = std::variant<Send, Tell, Deliver, Discard, Save, Restore, DropCommits>;
using Actions = std::vector<Action>;

std::string to_string(const Event& event);
std::string to_string(const Action& action);

// --- the core ---------------------------------------------------------------------------------------------------

enum class Status : std::uint8_t { running, blocked, rolled_back };

/// The settings that are the same on all ranks, for the whole life of the job.
struct Setup {
  std::vector<int> clusters;              ///< of each rank, the number of its cluster
  std::vector<CommitEpoch> first_epochs;  ///< of each rank; empty: 1 for all
  std::size_t most_unacknowledged = 64;   ///< on a channel, before an acknowledgement is requested
};

/// The protocol, following `Rules` (base/rules.hpp). Use ReplayCore; only tests leave rules out.
template <class Rules>
class BasicReplay {
 public:
  /// For the start of a job. The first commit is the beginning of the program; commit() is its part of the protocol.
  BasicReplay(Setup setup, Rank self);
  /// For a newcomer in `round` that has restored its last commit. The newcomer reports at once.
  BasicReplay(Setup setup, Rank self, Commit commit, Recovers round, Actions& actions);

  Actions step(const Event& event);

  /// Returns true if the program may continue: send, and receive messages that are not known.
  bool may_run() const { return status_ == Status::running || (status_ == Status::rolled_back && released_); }
  bool may_commit() const { return status_ == Status::running || (!keeps(Rule::no_commit_in_recovery) && may_run()); }
  /// Returns true if messages of the program may be delivered to this rank.
  bool listens() const { return !restoring_ && (status_ == Status::running || adopted_); }
  bool is_known(Rank from, const Letter& letter) const;
  /// Returns true if the rank takes part in no recovery.
  bool at_peace() const { return at_peace_; }

  Rank self() const { return self_; }
  Status status() const { return status_; }
  CommitEpoch epoch() const { return now_.epoch; }
  Phase phase() const { return now_.phase; }
  const Commit& commit() const { return now_; }
  Date received(Rank from) const;
  const Line& line() const { return line_; }
  /// Only in the holder: the reports from which the line was computed.
  const std::vector<std::optional<Report>>& reports() const { return reports_; }
  void add_to(transport::Fingerprint& print) const;

 private:
  using Kept = Commit::Kept;
  using Channel = Commit::Channel;

  static constexpr bool keeps(Rule rule) { return Rules::keep(rule); }

  void on(const Sends& sends, Actions& actions);
  void on(const Arrives& arrives, Actions& actions);
  void on(const Commits&, Actions& actions);
  void on(const Recovers& recovers, Actions& actions);
  void on(const Restored& restored, Actions& actions);
  void on(const Hears& hears, Actions& actions);
  void on(const Collects&, Actions& actions);

  void hear(Rank from, const Receipts& receipts, Actions& actions);
  void hear(Rank from, const Report& report, Actions& actions);
  void hear(Rank from, const Decree& decree, Actions& actions);
  void hear(Rank from, const Missing& missing, Actions& actions);
  void hear(Rank from, const Ready& ready, Actions& actions);
  void hear(Rank from, const Ask&, Actions& actions);
  void hear(Rank from, const Answer& answer, Actions& actions);
  void hear(Rank from, const Floors& floors, Actions& actions);
  void hear(Rank from, const Unneeded& unneeded, Actions& actions);

  void receive(const Arrives& arrives, Actions& actions);
  void receive_again(const Arrives& arrives, Actions& actions);
  void acknowledge(Rank to, std::vector<Receipt> receipts, Actions& actions);
  std::vector<Receipt> receipts_since(const Channel& channel, Date after) const;
  Receipt receipt_for(const Channel& channel, Date date) const;
  void take(Rank from, const std::vector<Receipt>& receipts);

  static void merge_received(std::vector<Commit::Received>& rows, CommitEpoch floor, Date date);

  void enter_round(const Recovers& recovers);
  Report report() const;
  void add_doubts_of_commit(Report& report) const;
  void adopt(Actions& actions);
  void find_orphans();
  void find_due();
  void orphan_came(Rank from, Date date, Actions& actions);
  void tell_missing(Actions& actions);
  void send_due(Actions& actions);
  void announce(Actions& actions);
  void go_on();
  void tell(Rank to, Control message, Actions& actions);
  Row& row(CommitEpoch epoch);
  void begin_row();
  Channel& channel(Rank peer) { return now_.channels[static_cast<std::size_t>(peer.value)]; }
  const Channel& channel(Rank peer) const { return now_.channels[static_cast<std::size_t>(peer.value)]; }
  std::size_t ranks() const { return setup_.clusters.size(); }

  Setup setup_;
  Rank self_;
  Commit now_;  // the state that a commit would keep
  Status status_ = Status::running;
  bool at_peace_ = true;

  Report committed_;  // the report of a newcomer that restores the last commit

  // of an epoch and a round
  std::vector<bool> always_logged_;  // by receiver: figure 5's mark
  std::vector<std::optional<CommitEpoch>>
      acknowledged_from_;  // by sender: its epoch whose first logged message was acknowledged

  // of a recovery
  std::uint32_t round_ = 0;
  Rank holder_;
  bool restoring_ = false;
  bool adopted_ = false;
  bool released_ = false;
  std::optional<Decree> decree_;
  Line line_;
  std::map<Phase, std::set<std::pair<int, Date>>> orphans_;  // by phase: the senders, and the last date of each
  std::optional<Ready> ready_;

  // of the holder
  std::vector<std::optional<Report>> reports_;
  std::vector<std::optional<Missing>> missing_;
  std::optional<Ready> announced_;
  std::vector<std::optional<Report>> answers_;
};

extern template class BasicReplay<AllRules>;

}  // namespace mend::replay

namespace mend {

using ReplayCore = replay::BasicReplay<AllRules>;

}  // namespace mend
