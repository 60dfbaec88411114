// log2phases: two-phase commit along a tree, after Hursey et al., "A Log-Scaling Fault Tolerant Agreement Algorithm
// for a Fault Tolerant MPI" (EuroMPI 2011), as the ERA paper (sections 5.1 and 6) describes it. It is what ERA is
// measured against.
//
// The picture
// -----------
// Votes climb a tree to its root, the coordinator (UP); the coordinator decides, and the decision comes down (DOWN).
// A member below one that has died votes again, to its nearest living ancestor. When the coordinator dies, the
// lowest living member takes its place. It knows nothing of what the old one has told whom, so it asks everybody,
// one by one (QUERY), and waits for all: whoever has the decision sends it, the others send their votes. Then it
// tells everybody, one by one. ERA's new root asks only those whose every ancestor is dead, and this is the
// difference: here the death of one process costs messages in the number of all.
//
// What a member answers to a QUERY must stay true. So a decision carries the number of the coordinator that has
// taken it, or taken it over, and a member that has answered a coordinator accepts no decision of a lower one any
// more: coordinators only ever go up. And a coordinator in office counts nothing but the answers to its own QUERY;
// a vote sent to it before, as to a parent, may have been followed by an answer to somebody else.
//
// There is one agreement at a time: coming to the next one says that a member has returned from the last, so a
// decision is kept until the next is taken, and no longer. Only blocking calls, then.

#pragma once

#include "agreement/baselines/baseline_core.hpp"

#include <optional>
#include <vector>

namespace mend::agreement {

class Log2Phases final : public BaselineCore {
 public:
  Log2Phases(Member self, std::shared_ptr<const Tree> tree, std::shared_ptr<const Operations> operations = nullptr);

  /// Throws UsageError for a nonblocking call too.
  void contribute(AgreementId id, const Contribution& contribution, Actions& actions) override;
  void dead(const ProcessSet& gone, Actions& actions) override;
  void add_to(transport::Fingerprint& print) const override;

 private:
  /// Votes gathered for an agreement that this member has not returned from: the one it is at, or the next, which
  /// others may have come to first.
  struct Votes {
    Tally tally;
    ProcessSet voted;                   ///< whose vote has come
    std::optional<Member> coordinator;  ///< the last that has asked for this member's vote, if one has
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
  std::uint64_t returned_from_ = 0;  // how many: as many, or one less
  bool voted_up_ = false;            // whether the vote for the current one has been sent to the parent
  bool in_office_ = false;           // whether this member coordinates the current one in place of a dead one
  bool lowest_ = false;              // whether this member is the lowest that lives
  Votes votes_;
  Votes next_votes_;
  Tally last_result_;      // of agreement returned_from_ - 1
  Round last_decided_by_;  // the term of the coordinator it came from
  std::optional<Member> parent_;
  std::vector<Member> children_;
};

}  // namespace mend::agreement
