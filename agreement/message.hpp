// What the agreement protocols say to each other, and what goes in and out of them.

#pragma once

#include "agreement/boxed.hpp"
#include "agreement/id_ranges.hpp"
#include "agreement/era/tree.hpp"
#include "agreement/value.hpp"

#include "transport/simulated/fingerprint.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mend::agreement {

/// Sets of members that travel with a contribution, and are nearly always all empty. They hold news only: what
/// differs from the failures that all members had agreed on before (Core::agreed_dead).
struct Sets {
  ProcessSet members{};       ///< the caller's own; combined by union
  ProcessSet failed;          ///< known to have died; combined by union
  ProcessSet acknowledged;    ///< failures the caller has acknowledged; combined by intersection
  ProcessSet unacknowledged;  ///< failures agreed on before, which the caller has not acknowledged; by union

  bool empty() const { return members.empty() && failed.empty() && acknowledged.empty() && unacknowledged.empty(); }
  bool operator==(const Sets&) const = default;
};

/// Contributions combined: of one member, of a subtree, and at last of all.
struct Tally {
  bool counted = false;  ///< whether any contribution is in it: without one it is the identity of the combination
  Operation operation = Operation::bitwise_and;
  Value value;
  IdRange returned;  ///< agreements that all who contributed have returned from
  Boxed<Sets> sets;

  bool operator==(const Tally&) const = default;
};

/// Combines `from` into `into`. Throws UsageError when the two were made with different operations.
void combine(Tally& into, const Tally& from, const Operations& operations);

/// Adds `failed` to the failures that `tally` speaks of.
void add_failures(Tally& tally, const ProcessSet& failed);

/// What an agreement came to.
struct Decision {
  Value value;
  /// The members that are dead, beyond those that had been agreed on before (Core::agreed_dead). Holds at least
  /// every member whose contribution is not in `value`.
  ProcessSet failed;
  /// The union of the sets contributed.
  ProcessSet members{};
  /// Whether some failure had not been acknowledged by all: MPIX_Comm_agree then reports an error everywhere.
  bool unacknowledged_failure = false;

  bool operator==(const Decision&) const = default;
};

Decision decision_of(const Tally& tally);

/// Whether the caller has other agreements of the group under way: known from the kind of the call, and so the
/// same at every member. Only after a blocking agreement, which all have returned from before they go on, may
/// members change what they hold in common: the tree and the failures agreed on.
enum class Call : std::uint8_t {
  blocking,     ///< the caller starts no other agreement of the group before this one has returned
  nonblocking,  ///< any number at once
};

/// What a member brings to an agreement. Operation and call are the same at every member.
struct Contribution {
  Value value;
  Operation operation = Operation::bitwise_and;
  Call call = Call::blocking;
  ProcessSet members{};
};

/// What `contribution` puts into a tally, by a member that has returned from `returned` and has `acknowledged` these
/// failures, when all have `agreed` on those.
Tally tally_of(const Contribution& contribution, const IdRange& returned, const ProcessSet& acknowledged,
               const ProcessSet& agreed);

/// A number that orders the rounds of a protocol with rounds: those of a later root come after all of an earlier.
struct Round {
  Member root;
  std::uint32_t count = 0;
  auto operator<=>(const Round&) const = default;
};

struct Message {
  enum class Kind : std::uint8_t {
    up,              ///< ERA, log2phases: contributions of a subtree
    down,            ///< ERA, log2phases: what was decided
    result_request,  ///< ERA: I am root and your parent; have you a result?
    query,           ///< log2phases: I am coordinator now; how far are you?
    ballot,          ///< validate-all, down the tree: is this ballot acceptable?
    commit,          ///< validate-all, down: commit to this ballot
    all_commit,      ///< validate-all, down: all have committed
    accept,          ///< validate-all, up: my subtree accepts / has got it
    reject,          ///< validate-all, up: somebody knows of more failures
    nak,             ///< validate-all, up: the broadcast has not reached all
    forced_nak,      ///< validate-all, up: I have committed to this already
  };

  Kind kind = Kind::up;
  AgreementId agreement;
  Tally tally;
  // Used by validate-all alone: its tree is made anew for every round.
  Round round;
  Member subtree_first;  ///< the receiver's descendants lie between these two,
  Member subtree_last;   ///< both included; none when last < first

  bool operator==(const Message&) const = default;
};

const char* name_of(Message::Kind kind);

/// "UP(#3, ..fe, failed {2})", for transcripts.
std::string to_string(const Message& message);
std::string to_string(const Decision& decision);

void add_to(transport::Fingerprint& print, const ProcessSet& set);
void add_to(transport::Fingerprint& print, const Tally& tally);
void add_to(transport::Fingerprint& print, const Message& message);
void add_to(transport::Fingerprint& print, const Decision& decision);

/// What a core asks its owner to do, in this order: all sends, then all decisions.
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
