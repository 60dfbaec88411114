// validate-all: the three-phase agreement of Buntinas, "Scalable Distributed Consensus to Support MPI Fault Tolerance"
// (EuroMPI 2011). ERA is compared with it in kind. Its strict form is uniform: members that died after returning had
// returned the same decision. That costs two more waves over the tree.
//
// The picture
// -----------
// The lowest living member is root and sends waves through the group. A wave goes down a tree that is made on the way:
// a member that receives "the members from a to b are yours" takes the one in the middle as a child, gives it the upper
// half, and goes on with the lower half. This makes a binomial tree of the living members. Answers come back up: when a
// member has the answers of all its children, it sends its own.
//
//   1. BALLOT: "these are dead; do you know of more?" ACCEPT carries the contributions of the subtree up; REJECT
//      says that a member knows of more. Once all have accepted, the root has the contributions of all members.
//   2. COMMIT: "this is the result". When all have answered, no other decision is possible any more.
//   3. ALL_COMMIT: "all have committed". Strict: members return here. Loose: they return at 2.
//
// If a child dies during a wave, its parent sends NAK up, and the root begins the wave again. Waves are numbered. A
// number contains the root, and later roots are higher members, so that every wave of an earlier root is older. When
// the root dies, the next root continues from its own phase: if it has committed it sends COMMIT, otherwise it asks for
// a new ballot. If a living member has committed to the old root's result, that member answers FORCED_NAK with the
// result, and the new root commits to it.
//
// Beyond the text
// ---------------
//   - Contributions: the paper agrees on the failed members alone. Here ACCEPT carries the combined contributions too,
//     and COMMIT the result; the rounds are the same.
//   - "The root waits for its knowledge of failures to be updated": here NAK and REJECT carry the deaths that their
//     senders know of, so that there is no wait.
//   - "A number larger than any it has seen" may not be larger than that of an old root's wave which the new root has
//     not seen. Hence numbers begin with the root.
//   - Loose: the paper drops the answers to COMMIT. Then no member would notice a subtree that a death has cut off.
//     Here the answers are kept, but members return without waiting for them.
//   - A member returns from an agreement while others have yet to hear ALL_COMMIT. So the last agreement stays active
//     until the next one has been committed to, which proves that all members have returned from the last.
//
// Only blocking calls are supported: one agreement at a time.

#pragma once

#include "agreement/baselines/baseline_core.hpp"

#include <optional>
#include <vector>

namespace mend::agreement {

/// The step at which members return (see the top of this file).
enum class Semantics : std::uint8_t { strict, loose };

class ValidateAll final : public BaselineCore {
 public:
  /// Takes only the members from `tree`, not its form.
  ValidateAll(Member self, std::shared_ptr<const Tree> tree, Semantics semantics,
              std::shared_ptr<const Operations> operations = nullptr);

  /// Throws UsageError also for a nonblocking call.
  void contribute(AgreementId id, const Contribution& contribution, Actions& actions) override;
  void dead(const ProcessSet& gone, Actions& actions) override;
  void add_to(transport::Fingerprint& print) const override;

 private:
  enum class Phase : std::uint8_t { absent, balloting, committed, all_committed };

  /// The wave that a member takes part in.
  struct Wave {
    Round round;
    Message::Kind kind = Message::Kind::ballot;
    std::optional<Member> parent;  ///< the member to answer; none at the root
    bool waiting = false;          ///< true while answers of children are missing
    bool rejected = false;         ///< true if a member below knows of more failures
    ProcessSet silent;             ///< children that have not answered
    Tally gathered;                ///< the contributions of the subtree, in a ballot
  };

  struct Agreement {
    AgreementId id;
    Phase phase = Phase::absent;
    bool returned = false;
    Tally own;
    Tally result;       ///< valid once committed
    ProcessSet agreed;  ///< failures agreed on when this agreement began: messages carry only later ones
    Wave wave;
    std::optional<std::pair<Member, Message>> early;  ///< a wave that came before the caller did
  };

  Agreement& find_or_begin(AgreementId id);
  void take(Member from, const Message& message, Actions& actions) override;
  void take_wave(Agreement& agreement, Member from, const Message& message, Actions& actions);
  void take_answer(Agreement& agreement, Member from, const Message& message, Actions& actions);
  void take_role_of_root(Agreement& agreement, Actions& actions);
  void begin_wave(Agreement& agreement, Message::Kind kind, Actions& actions);
  void pass_down(Agreement& agreement, const Message& wave, Member first, Member last, Actions& actions);
  void answer_if_complete(Agreement& agreement, Actions& actions);
  void answer(Agreement& agreement, Message::Kind kind, Actions& actions);
  void conclude(Agreement& agreement, Message::Kind answer, const Tally& tally, Actions& actions);
  void commit(Agreement& agreement, const Tally& result, Actions& actions);
  void come_back(Agreement& agreement, Actions& actions);
  void tidy();
  void believe(const ProcessSet& gone, Actions& actions);
  bool is_root() const { return members_.root(dead_) == self(); }

  Tree members_;
  Semantics semantics_;
  std::vector<Agreement> agreements_;  // the current one, the last one, and one that other members have begun first
};

}  // namespace mend::agreement
