// The messages of the agreement protocols, and their inputs and outputs.

#pragma once

#include "agreement/boxed.hpp"
#include "agreement/id_ranges.hpp"
#include "agreement/era/tree.hpp"
#include "agreement/value.hpp"

#include "transport/simulated/fingerprint.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mend::agreement {

/// Sets of members that travel with a contribution. Nearly always all are empty. They hold only what differs from the
/// failures that all members had agreed on before (Core::agreed_dead).
struct Sets {
  ProcessSet members{};       ///< the caller's own set; combined by union
  ProcessSet failed;          ///< members known to be dead; combined by union
  ProcessSet acknowledged;    ///< failures the caller has acknowledged; combined by intersection
  ProcessSet unacknowledged;  ///< failures agreed on before that the caller has not acknowledged; by union

  bool empty() const { return members.empty() && failed.empty() && acknowledged.empty() && unacknowledged.empty(); }
  bool operator==(const Sets&) const = default;
};

/// Combined contributions of one member, of a subtree or of all members.
struct Tally {
  bool counted = false;  ///< true if it holds a contribution; otherwise it is the identity of the combination
  Operation operation = Operation::bitwise_and;
  Value value;
  IdRange returned;  ///< agreements that all contributors have returned from
  Boxed<Sets> sets;

  bool operator==(const Tally&) const = default;
};

/// Combines `from` into `into`. Throws UsageError when the two were made with different operations.
void combine(Tally& into, const Tally& from, const Operations& operations);

/// The contributions that have come to a member before it contributed itself, each with its sender. The member counts
/// them when it contributes, except those of senders that it knows to be dead by then. A sender that still lives has
/// the same failures agreed on (Core::agreed_dead) as the member. One that has died may have had others: it may have
/// returned from the agreement before with a decision that has died with it.
using EarlyTallies = std::vector<std::pair<Member, Tally>>;

/// Adds `failed` to the failures in `tally`.
void add_failures(Tally& tally, const ProcessSet& failed);

/// The result of an agreement.
struct Decision {
  Value value;
  /// The dead members beyond those agreed on before (Core::agreed_dead). Holds at least every member whose contribution
  /// is not in `value`.
  ProcessSet failed;
  /// The union of the sets contributed.
  ProcessSet members{};
  /// True if a failure had not been acknowledged by all: MPIX_Comm_agree then reports an error everywhere.
  bool unacknowledged_failure = false;

  bool operator==(const Decision&) const = default;
};

Decision decision_of(const Tally& tally);

/// Tells whether the caller has other agreements of the group under way. It follows from the kind of the call, so it is
/// the same at every member. Members may change their common state, the tree and the failures agreed on, only after a
/// blocking agreement, because all have returned from it before they go on.
enum class Call : std::uint8_t {
  blocking,     ///< the caller starts no other agreement of the group before this one has returned
  nonblocking,  ///< the caller may have any number under way at once
};

/// A member's input to an agreement. Operation and call are the same at every member.
struct Contribution {
  Value value;
  Operation operation = Operation::bitwise_and;
  Call call = Call::blocking;
  ProcessSet members{};
};

/// Makes the tally of `contribution`. `returned`: the agreements that the member has returned from. `acknowledged`: the
/// failures that it has acknowledged. `agreed`: the failures that all have agreed on.
Tally tally_of(const Contribution& contribution, const IdRange& returned, const ProcessSet& acknowledged,
               const ProcessSet& agreed);

/// Orders the rounds of a protocol with rounds: those of a later root come after all rounds of an earlier root.
struct Round {
  Member root;
  std::uint32_t count = 0;
  auto operator<=>(const Round&) const = default;
};

struct Message {
  enum class Kind : std::uint8_t {
    up,              ///< ERA, log2phases: contributions of a subtree
    down,            ///< ERA, log2phases: the decision
    result_request,  ///< ERA: I am root and your parent; do you have a result?
    query,           ///< log2phases: I am coordinator now; what is your state?
    ballot,          ///< validate-all, down the tree: is this ballot acceptable?
    commit,          ///< validate-all, down: commit to this ballot
    all_commit,      ///< validate-all, down: all have committed
    accept,          ///< validate-all, up: my subtree accepts, or has received it
    reject,          ///< validate-all, up: a member knows of more failures
    nak,             ///< validate-all, up: the broadcast has not reached all members
    forced_nak,      ///< validate-all, up: I have committed to this already
  };

  Kind kind = Kind::up;
  AgreementId agreement;
  Tally tally;
  // Used only by validate-all, which makes a new tree for every round.
  Round round;
  Member subtree_first;  ///< the receiver's descendants lie between these two,
  Member subtree_last;   ///< both included; none when last < first

  bool operator==(const Message&) const = default;
};

const char* name_of(Message::Kind kind);

/// Returns text such as "UP(#3, ..fe, failed {2})", for transcripts.
std::string to_string(const Message& message);
std::string to_string(const Decision& decision);

void add_to(transport::Fingerprint& print, const ProcessSet& set);
void add_to(transport::Fingerprint& print, const Tally& tally);
/// The order in which `early` have come makes no difference.
void add_to(transport::Fingerprint& print, EarlyTallies early);
void add_to(transport::Fingerprint& print, const Message& message);
void add_to(transport::Fingerprint& print, const Decision& decision);

/// The actions that a core asks of its owner, in this order: all sends, then all decisions.
struct Actions {
  struct Send {
    Member to;
    Message message;
  };
  struct Decided {
    AgreementId agreement;
    Decision decision;
  };
  std::vector<Send> sends;
  std::vector<Decided> decided;

  void clear() {
    sends.clear();
    decided.clear();
  }
};

}  // namespace mend::agreement
