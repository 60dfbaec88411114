// log2phases: two-phase commit along a tree, after Hursey et al., "A Log-Scaling Fault Tolerant Agreement Algorithm for
// a Fault Tolerant MPI" (EuroMPI 2011), as the ERA paper (sections 5.1 and 6) describes it. ERA is measured against it.
//
// The picture
// -----------
// Votes climb a tree to its root, the coordinator (UP). The coordinator decides, and the decision comes down (DOWN). If
// a member's parent dies, the member votes again, to its nearest living ancestor. When the coordinator dies, the lowest
// living member takes its place. The new coordinator does not know what the old one has told other members, so it asks
// all members one by one (QUERY) and waits for all answers: a member that has the decision sends it, the others send
// their votes. Then it sends the decision to all members, one by one. ERA's new root asks only the members whose
// ancestors are all dead. This is the difference: in log2phases the death of one process costs a number of messages in
// proportion to the size of the group.
//
// The answer of a member to a QUERY must stay true. So a decision carries the number of the coordinator that took it,
// or took it over, and a member that has answered a coordinator accepts no decision of a lower one any more: the
// numbers of coordinators only increase. A coordinator in office counts only the answers to its own QUERY. A vote that
// was sent to it earlier, as to a parent, may have been followed by an answer to another coordinator.
//
// There is one agreement at a time. When a member comes to the next agreement, it has returned from the last one, so a
// decision is kept only until the next one is taken. Only blocking calls are supported.

#pragma once

#include "agreement/baselines/baseline_core.hpp"

#include <optional>
#include <vector>

namespace mend::agreement {

class Log2Phases final : public BaselineCore {
 public:
  Log2Phases(Member self, std::shared_ptr<const Tree> tree, std::shared_ptr<const Operations> operations = nullptr);

  /// Throws UsageError also for a nonblocking call.
  void contribute(AgreementId id, const Contribution& contribution, Actions& actions) override;
  void dead(const ProcessSet& gone, Actions& actions) override;
  void add_to(transport::Fingerprint& print) const override;

 private:
  /// The votes gathered for an agreement that this member has not returned from: the current one, or the next one,
  /// which other members may have begun first.
  struct Votes {
    Tally tally;
    ProcessSet voted;                   ///< the members whose votes have come
    EarlyTallies early;                 ///< the votes that came before this member voted
    std::optional<Member> coordinator;  ///< the last coordinator that asked for this member's vote, if any
  };

  void take(Member from, const Message& message, Actions& actions) override;
  void take_up(Member from, const Message& message, Actions& actions);
  void take_down(const Message& message, Actions& actions);
  void take_query(Member from, const Message& message, Actions& actions);

  bool at_agreement() const { return came_to_ > returned_from_; }
  Votes& votes_for(AgreementId id) { return id.value < came_to_ ? votes_ : next_votes_; }
  void take_over_last_result(Actions& actions);
  void take_office_if_root(Actions& actions);
  void advance(Actions& actions);
  bool children_voted() const;
  bool everybody_voted() const;
  void return_with(const Tally& result, Round decided_by, Actions& actions);
  void look_around();
  void send(Member to, Message::Kind kind, AgreementId id, Round round, const Tally* tally, Actions& actions) const;
  template <class Function>
  void each_other_living(Function function) const;

  std::shared_ptr<const Tree> tree_;
  std::uint64_t returned_from_ = 0;  // number of agreements: came_to_, or one less
  bool voted_up_ = false;            // true if the vote for the current agreement has been sent to the parent
  bool in_office_ = false;           // true if this member coordinates the current agreement in place of a dead one
  bool lowest_ = false;              // true if this member is the lowest living one
  Votes votes_;
  Votes next_votes_;
  Tally last_result_;      // of agreement returned_from_ - 1
  Round last_decided_by_;  // the term of the coordinator that last_result_ came from
  std::optional<Member> parent_;
  std::vector<Member> children_;
};

}  // namespace mend::agreement
