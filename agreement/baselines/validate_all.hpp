// validate-all: the three-phase agreement of Buntinas, "Scalable Distributed Consensus to Support MPI Fault
// Tolerance" (EuroMPI 2011). It is what ERA is compared with in kind: its strict form is uniform, so that even those
// who died after returning had returned the same, and pays for it with two more waves over the tree.
//
// The picture
// -----------
// The lowest living member is root and sends waves through the group. A wave goes down a tree that is made as it
// goes: who is told "the members from a to b are yours" takes the one in the middle as a child, gives it the upper
// half, and goes on with the lower, which makes a binomial tree of the living. Answers come back up; when a member
// has those of all its children it sends its own.
//
//   1. BALLOT: "these are dead; do you know of more?" ACCEPT carries the contributions of the subtree up; REJECT
//      says that somebody knows more. Once all have accepted, the root has everybody's contribution.
//   2. COMMIT: "this is the result". When all have answered, nobody can decide anything else any more.
//   3. ALL_COMMIT: "all have committed". Strict: members return here. Loose: they return at 2.
//
// A child that dies during a wave makes its parent send NAK up, and the root begins the wave again. Waves are
// numbered; a number holds who is root, and later roots are higher members, so that whatever an earlier root had
// under way is old. When the root dies, the next takes up where it stands itself: if it has committed it sends
// COMMIT, else it asks for a new ballot. If the old root's result has been committed to by anybody alive, that one
// answers FORCED_NAK with it, and the new root commits to that.
//
// Beyond the text
// ---------------
//   - Contributions: the paper agrees on the failed alone. Here ACCEPT carries the combined contributions too, and
//     COMMIT the result; the rounds are the same.
//   - "The root waits for its knowledge of failures to be updated": NAK and REJECT carry what their senders know to
//     be dead, so that there is no wait.
//   - "A number larger than any it has seen" may be no larger than that of an old root's wave which the new root has
//     not seen. Hence numbers begin with the root.
//   - Loose: the paper drops the answers to COMMIT. Then nobody would notice a subtree that a death has cut off. The
//     answers are kept; nobody waits for them to return.
//   - A member returns from an agreement while others have yet to hear ALL_COMMIT, so the last agreement stays at
//     work until the next has been committed to, which proves that all have returned from it.
//
// Only blocking calls: one agreement at a time.

#pragma once

#include "agreement/baselines/baseline_core.hpp"

#include <optional>
#include <vector>

namespace mend::agreement {

/// When members return: see above.
enum class Semantics : std::uint8_t { strict, loose };

class ValidateAll final : public BaselineCore {
 public:
  /// Takes the members from `tree`, not its form.
  ValidateAll(Member self, std::shared_ptr<const Tree> tree, Semantics semantics,
              std::shared_ptr<const Operations> operations = nullptr);

  /// Throws UsageError for a nonblocking call too.
  void contribute(AgreementId id, const Contribution& contribution, Actions& actions) override;
  void dead(const ProcessSet& gone, Actions& actions) override;
  void add_to(transport::Fingerprint& print) const override;

 private:
  enum class Phase : std::uint8_t { absent, balloting, committed, all_committed };

  /// The wave that a member is part of.
  struct Wave {
    Round round;
    Message::Kind kind = Message::Kind::ballot;
    std::optional<Member> parent;  ///< whom to answer; none at the root
    bool waiting = false;          ///< for the answers of children
    bool rejected = false;         ///< somebody below knows of more failures
    ProcessSet silent;             ///< children that have not answered
    Tally gathered;                ///< contributions of the subtree, in a ballot
  };

  struct Agreement {
    AgreementId id;
    Phase phase = Phase::absent;
    bool returned = false;
    Tally own;
    Tally result;       ///< once committed
    ProcessSet agreed;  ///< failures agreed on when it began: messages carry only further ones
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
  std::vector<Agreement> agreements_;  // the current one, the last, and one that others have come to first
};

}  // namespace mend::agreement
