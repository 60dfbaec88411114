// ERA: the early returning agreement of Herault et al., "Practical Scalable Consensus for Pseudo-Synchronous
// Distributed Systems" (SC 2015), sections 2 and 4.
//
// The picture
// -----------
// Members form a tree. Contributions go up the tree: a member that has its own and those of all its children sends
// their combination up (UP). When the root has all contributions, the combination is the decision. The decision goes
// down the tree (DOWN), and each member returns as soon as it receives the decision. Without failures, there is only
// one wave up and one wave down.
//
// A member that has returned may be asked for the result later, by members whose path to the root was broken.
//
// When members die the tree is mended (agreement/era/tree.hpp), and three things can have been lost:
//   - a contribution, in a dead parent: a member whose UP went to a parent that died sends it again to the new parent.
//     Counting a contribution twice does no harm, because the combination is idempotent;
//   - a decision on its way down, below a dead member: the UP that is sent again asks for it. A parent that has the
//     result answers with DOWN; a parent that waits itself remembers the sender;
//   - a decision taken by a root that died. The lowest living member becomes root. If it had sent its contribution up,
//     the old root may have decided, and living members may have returned with that decision. So before the new root
//     decides, it asks the members it adopts (RESULT_REQUEST), and waits for each of them. A member that has the result
//     answers DOWN, and this result is then the decision; a member that does not have it sends UP. If an adopted member
//     dies too, the members below it are asked instead.
//
// Why it holds
// ------------
//   P1  No root decides before it has heard of every living member: a root waits for all its children, and these
//       wait for theirs. (Participation: the caller's own contribution is in every decision it returns.)
//   P2  Below a living member, only that member can have spread a decision. So a new root need not ask its own
//       subtree. A root that never sent its contribution up need not ask any member: without it, nothing was decided.
//   P3  A member's answer "I have no result" to a new root stays true: the member knows that every sender from
//       which an older decision could still come is dead, and it ignores the messages of dead members.
//   P4  Decisions can differ only in what dead members knew: all living members return the same.
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
//   Part 2  Recv(UP)                     take_up; contribute takes those that came before
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
// Where the text of the paper is not enough
// -----------------------------------------
// Each of these was found, or confirmed, by the explorer; tests/agreement/era_explorer_test.cpp has the shortest
// run in which the text fails.
//   - RESULT_REQUEST from q makes the receiver mark "all r < q" dead. This is not enough for P3: the request also
//     implies that every member between q and the receiver is dead. Without that, the receiver answers "no result" and
//     then accepts a result that its dead parent had sent. (Rule::believe_the_path)
//   - These deaths must be acted on like any others, in every agreement under way, not just written into S: the
//     detector's later report of them changes nothing, and contributions sent to them stay lost.
//     (Rule::act_on_deaths_told)
//   - Recv(DOWN) demands that the message come from the parent. A root has none, and would ignore the answers it has
//     asked for. Instead, messages from members known to be dead must be refused. (Rule::listen_as_root,
//     Rule::refuse_the_dead)
//   - Recv(UP) in the broadcasting state does nothing if there is no result yet. The contribution is lost, and so is
//     the fact that the sender need not be asked: if the receiver becomes root, it waits for that UP for ever.
//     (Rule::hear_late_ups) The rule also says Result_q where Result_p is meant.
//   - Decision sends DOWN to Children and to those whose RESULT_REQUEST was put off. A grandchild may have sent its UP
//     again to a member that has yet to notice the death of the member between them. It belongs to neither group, and
//     waits for ever. (Rule::tell_contributors)
//   - Rule 4 asks whether q = Parent(S_p, p) after it has marked q dead in S_p. This is never true; Parent(S'_p, p) is
//     meant.
//   - A promoted root resets Contributed and asks all its children. By P2 it may keep what it has and ask only the
//     children that have not contributed, which halves the messages; the explorer finds no violation.
//   - Answering a RESULT_REQUEST without a result needs no rule of its own: the deaths that it implies make the
//     requester the parent, and a new parent is sent the contribution anyway. An UP is not sent twice.
//
// When two are left
// -----------------
// A tree of two needs two messages one after the other, UP and DOWN. Two members that both know that all others have
// died exchange their contributions instead, at the same time, and each decides when the message arrives. This takes
// half the time. The guarantee is the same: either one of the two dies, or both decide on the same two contributions.
//
// What is agreed on beside the value
// ----------------------------------
// Every UP carries the deaths that are known in the subtree. So the decision names every member whose contribution is
// missing, and says whether the caller must be told of a failure (Decision). After a blocking agreement all members
// hold the same set of agreed failures. Later messages carry only new failures, so that without failures they carry
// none. If mending has made the tree degenerate, all members build the same new tree at that moment. Messages also
// carry the range of agreements returned from (agreement/era/archive.hpp).
//
// So the failures in a message are relative to its sender's set of agreed failures. By P4, that set can differ only if
// the sender has died, and then the receiver knows of the death when it has returned from the agreement before: the
// decision names the sender. An UP that comes before the receiver has contributed may be older than this knowledge.
// Therefore it waits until the receiver contributes, and is refused then like any other message of the dead
// (EarlyTallies in agreement/message.hpp).
//
// The end of a group: a member that has returned goes on answering until its owner knows that every living member has
// returned from all agreements of the group (Service::end_groups_before). The owner ensures this by a flush: one more
// agreement, of an older group or of the library's own, after which no member can ask any more.

#pragma once

#include "agreement/era/archive.hpp"
#include "agreement/core.hpp"
#include "base/rules.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace mend::agreement {

/// The rules of the protocol, one by one, so that a test can leave one out and show that it is needed.
enum class Rule : std::uint8_t {
  wait_for_children,       ///< contribute upwards only when all children have contributed
  resend_to_new_parent,    ///< send UP again when the parent dies
  hear_late_ups,           ///< an UP that comes while waiting for the result counts like any other
  tell_contributors,       ///< DOWN goes to all members that have contributed here, not to the children alone
  answer_after_returning,  ///< an UP for an agreement returned from is answered with DOWN
  ask_when_promoted,       ///< a new root asks the members it adopts
  ask_grandchildren,       ///< ... and the members below them when they die
  listen_as_root,          ///< a root accepts the results it has asked for
  refuse_the_dead,         ///< messages from members known to be dead are ignored
  believe_the_path,        ///< a request tells that all members between it and the receiver are dead
  believe_the_elders,      ///< a request tells that all members below the sender are dead
  act_on_deaths_told,      ///< deaths learned from requests are treated like those from the detector
  intersect_returned,      ///< results are forgotten only when all have returned from them
};

/// ERA, following `Rules` (base/rules.hpp). Use Era; only tests leave rules out.
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

  /// Returns true if every message of `from` will be ignored.
  bool ignores(Member from) const { return keeps(Rule::refuse_the_dead) && dead_.contains(from); }
  /// Returns how many results are kept for members that may ask.
  std::size_t results_kept() const { return archive_.size(); }
  /// Returns how many agreements this member has heard of and not returned from.
  std::size_t under_way() const { return open_.size(); }
  /// Returns the tree that the next agreement will use.
  const Tree& tree() const { return *views_.back().tree; }

 private:
  enum class Status : std::uint8_t { not_contributed, gathering, broadcasting, decided };

  /// The common state of all members when an agreement began, and this member's neighbours according to it.
  struct View {
    std::uint32_t number;
    std::shared_ptr<const Tree> tree;
    ProcessSet agreed;  ///< failures agreed on
    std::optional<Member> parent;
    std::vector<Member> children;
    std::optional<Member> partner;  ///< the only other member, if all but two had died before
  };

  /// An agreement that this member has not returned from.
  struct Open {
    AgreementId id;
    Status status = Status::not_contributed;
    bool promoted = false;  ///< this member has become root after it had sent its contribution up
    bool offered = false;   ///< this member has sent its contribution to its partner
    Call call = Call::blocking;
    std::uint32_t view = 0;     ///< by number; settled when this member contributes
    std::uint32_t missing = 0;  ///< children that have not contributed
    Tally tally;                ///< Current of the paper
    ProcessSet contributed;     ///< the members whose UP has come
    EarlyTallies early;         ///< the UPs that came before this member contributed
  };

  static constexpr bool keeps(Rule rule) { return Rules::keep(rule); }

  void take_up(Member from, const Message& message, Actions& actions);
  void take_down(Member from, const Message& message, Actions& actions);
  void take_request(Member from, const Message& message, Actions& actions);

  void count_early(Open& open);
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
  std::vector<View> views_;  // the last is for future agreements; earlier ones are in use by open agreements
  std::vector<Open> open_;   // ascending
  std::vector<Open> spare_;  // used before; kept for their memory
  Archive archive_;
  ProcessSet told_;            // deaths learned during this step, to be acted on at its end
  ProcessSet fence_failures_;  // failures that the blocking agreement decided in this step has agreed on
};

using Era = BasicEra<AllRules>;
extern template class BasicEra<AllRules>;

}  // namespace mend::agreement
