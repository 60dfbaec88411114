// The replay protocol of one rank: which ranks go back when one dies, what is logged so that the others can stay, and
// in which order messages are replayed. Decided without MPI, clocks or sockets.
//
// After the paper on uncoordinated checkpointing for send-deterministic applications. docs/replay.md has the idea, an
// index from the paper's lines to the functions here, and each point in which this differs, with the reason.
//
// The picture
// -----------
//      rank 0, epoch 1  ---m0--------------o(stays)------------------ m7 -->
//                          \  logged       ^ m3: orphan
//      rank 1, epoch 2  -H--o--m1---o------/---------- dies: back to H
//                               \  ^ m2: logged
//      rank 2, epoch 1  ---------o-/---------------------------------------
//
// Rank 1 computes again from H. It is sent m0 and m2 from the logs of 0 and 2, which stay. It sends m1 and m3 again;
// 2 and 0 have them, and discard them. m2 depends on m1, so it may come only after m1 was sent again: m0 has phase 1,
// m1 is an orphan in phase 2, m2 has phase 2, and a kept message waits for the orphans of its phase.
//
// Dates
// -----
// The paper's date counts what a rank sends and receives. How much a send-deterministic rank has received when it sends
// is not the same in all runs (receives may be non-blocking), so here a date numbers the messages of a channel.
//
// A recovery
// ----------
//   all        Recovers: stop; who was lost restores its last commit        Report      -> holder
//   holder     has all reports: computes the line                           Decree      -> all
//   all        who is on the line and was not lost restores; then
//              finds its orphans and what it has to replay                  Missing     -> holder
//   holder     the lowest phase of all that are missing                     Ready       -> all
//   all        kept messages below it are sent; who stayed goes on if its
//              phase is below it, who went back if its phase is not above it
//   all        the last orphan of a rank's lowest phase comes               Missing     -> holder
//   holder     none is missing anywhere                                     Ready(none) -> all: the recovery is over
//
// A further death begins a new round with any holder: all report again, so nothing that a holder knew is missed. Ranks
// that went back and have not heard of the end begin again from their commit.
//
// What the driver promises
// ------------------------
//   - a message is delivered in the round in which it was sent, or not at all; channels are FIFO in a round;
//   - a commit of a cluster is published on all its ranks or on none, and outlives them;
//   - a restored rank continues from the commit, and sends what it has sent before.
//
// Limits
// ------
// A rank that was rolled back makes no commit until the recovery is over. It may then have to send again from an epoch
// below that of its receiver, and a later failure may take it back to an epoch below those of the failed ones. The line
// of all accounts for that, so its commit is there.

#pragma once

#include "base/ids.hpp"
#include "base/rules.hpp"
#include "replay/recovery_line.hpp"
#include "replay/message.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace mend::replay {

/// The protocol's rules one by one, so that tests can leave one out and see it missed.
enum class Rule : std::uint8_t {
  log_past_to_future,          ///< a message from an epoch to a later one is kept
  commit_raises_phase,         ///< the phase grows at a commit
  logged_raises_phase,         ///< the phase grows beyond that of a logged message
  replayed_raises_phase,       ///< ... also when it is replayed to a receiver that is in an earlier epoch now
  kept_wait_for_phase,         ///< a kept message waits for the orphans of its phase, and of lower ones
  rolled_back_wait_below,      ///< a rank that went back waits for the orphans of lower phases only
  survivors_wait,              ///< a rank that stayed waits for the orphans of its phase, and of lower ones
  commit_after_counting,       ///< epoch and phase grow before the commit is made, not after it
  compare_with_last_date,      ///< a message is known if its date is not above the last one of its channel
  acknowledge_duplicates,      ///< a message that is known is acknowledged again
  first_epoch_counts,          ///< ... with the epoch in which it was received first, and as logged if it was then
  commit_unacknowledged,       ///< messages that are not acknowledged belong to a commit
  resend_unacknowledged,       ///< they are sent again after a recovery
  doubt_unacknowledged,        ///< they count as received without a log if they could have been
  doubt_what_is_missing,       ///< ... only if the receiver does not have them where it goes back to
  doubt_of_the_commit,         ///< ... for the line of all also if they were not acknowledged in the last commit
  replay_what_is_missing,      ///< kept messages are due that the receiver does not have, in whatever epoch it had them
  replayed_is_unacknowledged,  ///< a replayed message has no receipt until the next one comes
  begin_again,            ///< a failure before the end of a recovery takes those that went back to their commit again
  no_commit_in_recovery,  ///< a rank that went back commits when the recovery is over
  keep_the_line_of_all,   ///< commits are dropped below the line of all, not below the smallest epoch
};

/// A commit's part that belongs to the protocol. It is kept with the rank's data.
struct Commit {
  struct Kept {
    Date date;
    CommitEpoch epoch;
    Phase phase;
    std::uint64_t content = 0;
    bool large = false;
    bool breaks_path = false;             ///< it has been logged: its receiver raises its phase
    std::optional<CommitEpoch> received;  ///< nothing: it is not acknowledged
    bool due = false;                     ///< to be sent again as soon as its phase is ready
  };
  /// What came on one channel in one phase of the receiver: a row of the paper's RPP (ReceivedPerPhase).
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

/// The program sends. Only if may_run().
struct Sends {
  Rank to;
  std::uint64_t content = 0;
  bool large = false;
};
/// A message of the program has come: one that the program waits for, or one that is_known(). Only if listens().
struct Arrives {
  Rank from;
  Letter letter;
};
/// The rank's cluster has committed. Only if may_commit().
struct Commits {};
/// Ranks have died, and others hold them now. What was on its way is lost. `holder` has the recovery role.
struct Recovers {
  std::uint32_t round;  ///< numbers recoveries; messages are delivered in the round in which they were sent
  Rank holder;
};
/// The rank's data are those of this commit.
struct Restored {
  Commit commit;
};
struct Hears {
  Rank from;
  Control message;
};
/// In one rank: drops what is of no use any more, everywhere. Not while a recovery is under way.
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
/// Keeps this with the data of the commit.
struct Save {
  Commit commit;
};
/// Takes the rank's data back to the commit at the beginning of `epoch`, and drops later commits. Restored is next.
struct Restore {
  CommitEpoch epoch;
};
/// Commits before `epoch` are of no use.
struct DropCommits {
  CommitEpoch before;
};

using Action = std::variant<Send, Tell, Deliver, Discard, Save, Restore, DropCommits>;
using Actions = std::vector<Action>;

std::string to_string(const Event& event);
std::string to_string(const Action& action);

// --- the core ---------------------------------------------------------------------------------------------------

enum class Status : std::uint8_t { running, blocked, rolled_back };

/// What is the same in all ranks, and as long as the job lives.
struct Setup {
  std::vector<int> clusters;              ///< of each rank, the number of its cluster
  std::vector<CommitEpoch> first_epochs;  ///< of each rank; empty: 1 for all
  std::size_t most_unacknowledged = 64;   ///< on a channel, before an acknowledgement is asked for
};

/// The protocol, following `Rules` (base/rules.hpp). Use ReplayCore: tests alone leave rules out.
template <class Rules>
class BasicReplay {
 public:
  /// At the start of a job. The first commit is the beginning of the program: commit() goes with it.
  BasicReplay(Setup setup, Rank self);
  /// A newcomer in `round`, which has restored its last commit. It reports at once.
  BasicReplay(Setup setup, Rank self, Commit commit, Recovers round, Actions& actions);

  Actions step(const Event& event);

  /// The program may go on: send, and receive what is not known.
  bool may_run() const { return status_ == Status::running || (status_ == Status::rolled_back && released_); }
  bool may_commit() const { return status_ == Status::running || (!keeps(Rule::no_commit_in_recovery) && may_run()); }
  /// Messages of the program may come in.
  bool listens() const { return !restoring_ && (status_ == Status::running || adopted_); }
  bool is_known(Rank from, const Letter& letter) const;
  /// The rank takes part in no recovery.
  bool at_peace() const { return at_peace_; }

  Rank self() const { return self_; }
  Status status() const { return status_; }
  CommitEpoch epoch() const { return now_.epoch; }
  Phase phase() const { return now_.phase; }
  const Commit& commit() const { return now_; }
  Date received(Rank from) const;
  const Line& line() const { return line_; }
  /// Only in the holder: what led to the line.
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
  Commit now_;  // what a commit would keep
  Status status_ = Status::running;
  bool at_peace_ = true;

  Report committed_;  // what a newcomer would report

  // of an epoch and a round
  std::vector<bool> always_logged_;  // by receiver: figure 5's mark
  std::vector<std::optional<CommitEpoch>>
      acknowledged_from_;  // by sender: its epoch whose first logged one I have acked

  // of a recovery
  std::uint32_t round_ = 0;
  Rank holder_;
  bool restoring_ = false;
  bool adopted_ = false;
  bool released_ = false;
  std::optional<Decree> decree_;
  Line line_;
  std::map<Phase, std::set<std::pair<int, Date>>> orphans_;  // by phase: who sends which last one of it again
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
