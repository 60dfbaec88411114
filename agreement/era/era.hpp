// ERA: the early returning agreement of Herault et al., "Practical Scalable Consensus for Pseudo-Synchronous
// Distributed Systems" (SC 2015), sections 2 and 4.
//
// The picture
// -----------
// Members form a tree. Contributions climb it: a member that has its own and those of all its children sends their
// combination up (UP). When the root has everything, the combination is the decision; it comes down the tree
// (DOWN), and each member returns the moment it hears. Without failures that is all: one wave up, one wave down.
//
// A member that has returned may be asked for the result later, by those who lost the way it should have come.
//
// When members die the tree is mended (agreement/era/tree.hpp), and three things can have been lost:
//   - a contribution, in a dead parent: whoever sent its UP to a member that died sends it again to the new parent.
//     Counting a contribution twice does no harm, because the combination is idempotent;
//   - a decision on its way down, below a dead member: the UP that is sent again asks for it. A parent that has
//     the result answers with DOWN; one that waits itself remembers who asked;
//   - a decision taken by a root that died. The lowest living member becomes root. If it had sent its contribution
//     up, the old root may have decided, and members that live may have returned with that decision. So before it
//     decides anew, the new root asks those it adopts (RESULT_REQUEST), and waits for each of them: one that has
//     the result answers DOWN, which is then the decision; one that has not, sends UP. If an adopted member dies
//     too, those below it are asked instead.
//
// Why it holds
// ------------
//   P1  Nobody decides without having heard of every living member: a root waits for all its children, they wait
//       for theirs. (Participation: the caller's own contribution is in every decision it returns.)
//   P2  Below a member that lives, only it can have spread a decision. So a new root need not ask its own subtree,
//       and nobody need be asked by a root that never sent its contribution up: without it, nothing was decided.
//   P3  What is sent to a new root as "I have no result" stays true: whoever sends it knows that everyone from
//       whom an older decision could still come is dead, and listens to the dead no more.
//   P4  Decisions differ only in what the dead knew: all living members return the same.
//
// From the lines of the paper to the functions
// --------------------------------------------
//   Part 1  S_p                          dead_
//           Parent(S,p), Children(S,p)   View::parent, View::children, from Tree::parent and Tree::children
//                                        (look_around)
//           Requested_p                  none: a RESULT_REQUEST makes its sender the parent, which is sent the UP
//           Result_p                     archive_
//           Current_p                    Open::tally
//           Status_p                     Open::status; agreements with Result_p are in archive_, not in open_
//           Contributed_p                Open::contributed; Open::missing counts the children that are not in it
//   Procedure Agreement(v, a)            contribute; F is combine, "wait until" is the owner's (agreement/service.hpp)
//   Procedure Decision(v, a)             decide; the DOWN to Children there, to others in tell_grandchildren
//   Part 2  Recv(UP)                     take_up
//           Recv(DOWN)                   take_down
//           Recv(RESULT_REQUEST)
//             forall r < q: S[r] <- dead take_request fills told_, settle and discover act on it
//             Result known: send DOWN    take_request, first lines
//             broadcasting: send UP      mend, when the sender has become the parent
//             otherwise: Requested       mend and advance, in the same way
//   Part 3  gathering, all contributed   advance
//             Parent = none: Decision    advance -> decide
//             else send UP, broadcasting advance
//   Part 4  S[q] <- dead                 dead, then settle -> discover for each tree in use
//           q was the parent, p is root  mend: promoted; gathering again; ask_silent_children
//           q was the parent, p is not   mend: sends UP to the new parent
//           q was a child                mend: count_missing; ask_silent_children if promoted; advance
//   Section 4  topology deterioration    adopt_common_ground
//              garbage collection        Archive::forget in decide (agreement/era/archive.hpp)
// take_up, take_down and take_request are called by receive, which first drops messages of the dead. Every step ends
// with settle.
//
// Where the text of the paper does not do
// ---------------------------------------
// Each of these was found, or confirmed, by the explorer; tests/agreement/era_explorer_test.cpp has the shortest
// run in which the text fails.
//   - RESULT_REQUEST from q makes the receiver mark "all r < q" dead. This is not enough for P3: q is also saying
//     that everyone between itself and the receiver is dead. Without that, the receiver answers "no result" and
//     then accepts one that its dead parent had sent. (Rule::believe_the_path)
//   - Those deaths must be acted on like any others, in every agreement under way, not just written into S: the
//     detector's later word about them changes nothing, and contributions sent to them stay lost.
//     (Rule::act_on_deaths_told)
//   - Recv(DOWN) demands that it come from the parent. A root has none, and would ignore the very answers it has
//     asked for. A message from a member known to be dead is what must be refused. (Rule::listen_as_root,
//     Rule::refuse_the_dead)
//   - Recv(UP) in the broadcasting state does nothing if there is no result yet. The contribution is lost, and with
//     it the sender's standing as one who need not be asked: if the receiver becomes root, it waits for that UP for
//     ever. (Rule::hear_late_ups) The rule also says Result_q where Result_p is meant.
//   - Decision sends DOWN to Children and to those whose RESULT_REQUEST was put off. A grandchild that has sent its
//     UP again, to a member which has yet to notice that the one between them is dead, is neither, and waits for
//     ever. (Rule::tell_contributors)
//   - Rule 4 asks whether q = Parent(S_p, p) after it has marked q dead in S_p, which is never so: Parent(S'_p, p).
//   - A promoted root resets Contributed and asks all its children. By P2 it may keep what it has and ask only
//     those who have not contributed to it, which halves the messages; the explorer finds nothing wrong with it.
//   - Answering a RESULT_REQUEST without a result needs no rule of its own: believing the deaths it tells makes
//     the requester the parent, and a new parent is sent the contribution anyway. An UP is not sent twice.
//
// When two are left
// -----------------
// A tree of two needs two messages one after the other, UP and DOWN. Two members that hold it in common that all
// others have died exchange their contributions instead, at the same time, and each decides when it hears: half the
// time. This promises no less: one of the two dies, or both have decided on the same two contributions.
//
// What is agreed on beside the value
// ----------------------------------
// Every UP carries who is known dead to somebody in the subtree, so the decision names every member whose
// contribution is missing, and whether the caller must be told of a failure (Decision). After a blocking agreement
// all members hold the same set of agreed failures; later messages carry only what is new, so that in quiet times
// they carry nothing. If mending has made the tree degenerate, the same moment gives everyone the same new tree.
// The range of agreements returned from travels along too (agreement/era/archive.hpp).
//
// The end of a group: whoever has returned goes on answering until its owner knows that every living member has
// returned from all agreements of the group (Service::end_groups_before). The owner brings that about by a flush: one
// more agreement, of an older group or of the library's own, after which nobody can ask any more.

#pragma once

#include "agreement/era/archive.hpp"
#include "agreement/core.hpp"
#include "base/rules.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace mend::agreement {

/// The rules of the protocol one by one, so that tests can leave one out and see it missed.
enum class Rule : std::uint8_t {
  wait_for_children,       ///< contribute upwards only when all children have contributed
  resend_to_new_parent,    ///< send UP again when the parent dies
  hear_late_ups,           ///< an UP that comes while waiting for the result counts like any other
  tell_contributors,       ///< DOWN goes to all who have contributed here, not to the children alone
  answer_after_returning,  ///< an UP for an agreement returned from is answered with DOWN
  ask_when_promoted,       ///< a new root asks those it adopts
  ask_grandchildren,       ///< ... and those below them when they die
  listen_as_root,          ///< a root accepts the results it has asked for
  refuse_the_dead,         ///< what comes from a member known to be dead is not looked at
  believe_the_path,        ///< a request tells that all members between it and the receiver are dead
  believe_the_elders,      ///< a request tells that all members below the sender are dead
  act_on_deaths_told,      ///< deaths learned from requests are treated like those from the detector
  intersect_returned,      ///< results are forgotten only when all have returned from them
};

/// ERA, following `Rules` (base/rules.hpp). Use Era: tests alone leave rules out.
template <class Rules>
class BasicEra final : public Core {
 public:
  /// `rebalancing` is the same at every member.
  BasicEra(Member self, std::shared_ptr<const Tree> tree, std::shared_ptr<const Operations> operations = nullptr,
           Rebalancing rebalancing = Rebalancing::when_degenerated);

  void contribute(AgreementId id, const Contribution& contribution, Actions& actions) override;
  void receive(Member from, const Message& message, Actions& actions) override;
  void dead(const ProcessSet& gone, Actions& actions) override;
  void acknowledge(const ProcessSet& failures) override { acknowledged_.insert(failures); }
  const ProcessSet& known_dead() const override { return dead_; }
  const ProcessSet& agreed_dead() const override { return views_.back().agreed; }
  void add_to(transport::Fingerprint& print) const override;

  /// Whether whatever `from` sends will be thrown away.
  bool ignores(Member from) const { return keeps(Rule::refuse_the_dead) && dead_.contains(from); }
  /// How many results are kept for those who may ask.
  std::size_t results_kept() const { return archive_.size(); }
  /// How many agreements this member has heard of and not returned from.
  std::size_t under_way() const { return open_.size(); }
  /// The tree that the next agreement will use.
  const Tree& tree() const { return *views_.back().tree; }

 private:
  enum class Status : std::uint8_t { not_contributed, gathering, broadcasting, decided };

  /// What members held in common when an agreement began, and this member's neighbours by it.
  struct View {
    std::uint32_t number;
    std::shared_ptr<const Tree> tree;
    ProcessSet agreed;  ///< failures agreed on
    std::optional<Member> parent;
    std::vector<Member> children;
    std::optional<Member> partner;  ///< the only other one, when two had not died before
  };

  /// An agreement that this member has not returned from.
  struct Open {
    AgreementId id;
    Status status = Status::not_contributed;
    bool promoted = false;  ///< this member has become root after it had sent its contribution up
    bool offered = false;   ///< this member has told its partner
    Call call = Call::blocking;
    std::uint32_t view = 0;     ///< by number; settled when this member contributes
    std::uint32_t missing = 0;  ///< children that have not contributed
    Tally tally;                ///< Current of the paper
    ProcessSet contributed;     ///< whose UP has come
  };

  static constexpr bool keeps(Rule rule) { return Rules::keep(rule); }

  void take_up(Member from, const Message& message, Actions& actions);
  void take_down(Member from, const Message& message, Actions& actions);
  void take_request(Member from, const Message& message, Actions& actions);

  void advance(Open& open, Actions& actions);
  void meet_partner(Open& open, Member partner, Actions& actions);
  void decide(Open& open, const Tally& result, Member told_by, Actions& actions);
  void tell_grandchildren(const Open& open, const View& view, const Tally& result, Actions& actions);
  void settle(Actions& actions);
  void discover(const ProcessSet& gone, Actions& actions);
  void mend(Open& open, const View& view, const View& before, Actions& actions);
  void ask_silent_children(const Open& open, const View& view, std::span<const Member> known, Actions& actions);
  void adopt_common_ground();
  void look_around(View& view) const;
  void count_missing(Open& open, const View& view) const;

  Open* find(AgreementId id);
  Open& find_or_open(AgreementId id);
  View& view_of(const Open& open) { return views_[open.view - views_.front().number]; }
  static void send(Member to, Message::Kind kind, AgreementId id, const Tally* tally, Actions& actions);

  Member self_;
  std::shared_ptr<const Operations> operations_;
  Rebalancing rebalancing_;
  ProcessSet dead_;
  ProcessSet acknowledged_;
  std::uint64_t next_ = 0;   // the number of the caller's next agreement
  std::vector<View> views_;  // the last is that of agreements to come; earlier ones of some still open
  std::vector<Open> open_;   // ascending
  std::vector<Open> spare_;  // used before, kept for their memory
  Archive archive_;
  ProcessSet told_;            // deaths learned during this step, to be acted on at its end
  ProcessSet fence_failures_;  // failures that the blocking agreement decided in this step has agreed on
};

using Era = BasicEra<AllRules>;
extern template class BasicEra<AllRules>;

}  // namespace mend::agreement
