// The rules of ERA (agreement/era/era.hpp), as templates. era.cpp instantiates the protocol; tests instantiate
// protocols that lack a rule.

#pragma once

#include "agreement/era/era.hpp"

#include "base/assert.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace mend::agreement {

template <class Rules>
BasicEra<Rules>::BasicEra(Member self, std::shared_ptr<const Tree> tree, std::shared_ptr<const Operations> operations,
                          Rebalancing rebalancing)
    : self_(self), operations_(std::move(operations)), rebalancing_(rebalancing) {
  static const auto built_in = std::make_shared<const Operations>();
  if (!operations_) operations_ = built_in;
  View view{0, std::move(tree), {}, {}, {}, {}};
  view.agreed = view.tree->left_out();
  dead_ = acknowledged_ = view.agreed;
  look_around(view);
  views_.push_back(std::move(view));
}

// ---- Procedure Agreement

template <class Rules>
void BasicEra<Rules>::contribute(AgreementId id, const Contribution& contribution, Actions& actions) {
  if (id.value != next_) {
    throw UsageError("agreements of a group must be come to in the order of their numbers: " + std::to_string(next_) +
                     " is next, not " + std::to_string(id.value));
  }
  ++next_;
  Open& open = find_or_open(id);
  open.status = Status::gathering;
  open.call = contribution.call;
  open.view = views_.back().number;
  combine(open.tally, tally_of(contribution, archive_.returned(), acknowledged_, views_.back().agreed), *operations_);
  count_early(open);
  count_missing(open, views_.back());
  advance(open, actions);
  settle(actions);
}

template <class Rules>
void BasicEra<Rules>::count_early(Open& open) {
  for (const auto& [from, tally] : open.early) {
    if (ignores(from)) continue;
    combine(open.tally, tally, *operations_);
    open.contributed.insert(from);
  }
  open.early.clear();
}

// ---- ERA Part 3 and Procedure Decision

template <class Rules>
void BasicEra<Rules>::advance(Open& open, Actions& actions) {
  if (open.status != Status::gathering) return;
  const View& view = view_of(open);
  if (view.partner) {
    meet_partner(open, *view.partner, actions);
    return;
  }
  if (keeps(Rule::wait_for_children) && open.missing > 0) return;
  if (dead_ != view.agreed) add_failures(open.tally, difference(dead_, view.agreed));
  if (view.parent) {
    open.status = Status::broadcasting;
    send(*view.parent, Message::Kind::up, open.id, &open.tally, actions);
  } else {
    decide(open, open.tally, self_, actions);
  }
}

/// With two members left, each sends its contribution to the other, and decides as soon as the other's arrives.
template <class Rules>
void BasicEra<Rules>::meet_partner(Open& open, Member partner, Actions& actions) {
  if (!std::exchange(open.offered, true)) send(partner, Message::Kind::up, open.id, &open.tally, actions);
  if (open.contributed.contains(partner) || !keeps(Rule::wait_for_children)) {
    decide(open, open.tally, partner, actions);
  }
}

template <class Rules>
void BasicEra<Rules>::decide(Open& open, const Tally& result, Member told_by, Actions& actions) {
  if constexpr (Rules::are_complete) {
    require(open.status != Status::decided && !archive_.find(open.id), "a member decides once");
    require(result.counted, "a result has contributions in it");
  }
  const View& view = view_of(open);
  for (Member child : view.children) {
    if (child != told_by) send(child, Message::Kind::down, open.id, &result, actions);
  }
  if (keeps(Rule::tell_contributors) && !view.partner) tell_grandchildren(open, view, result, actions);
  actions.decided.push_back({open.id, decision_of(result)});
  open.status = Status::decided;
  archive_.forget(keeps(Rule::intersect_returned) ? result.returned : archive_.returned());
  archive_.keep(open.id, result);
  if (const Sets* sets = result.sets.get()) {
    told_.insert(sets->failed);
    if (open.call == Call::blocking) fence_failures_ = sets->failed;
  }
}

/// Sends the result to members that have contributed here because their parents died, before this member knows of the
/// deaths.
template <class Rules>
void BasicEra<Rules>::tell_grandchildren(const Open& open, const View& view, const Tally& result, Actions& actions) {
  for (const ProcessSet::Run& run : open.contributed.runs()) {
    for (Member member = run.first; member <= run.last; ++member.value) {
      if (std::binary_search(view.children.begin(), view.children.end(), member) || dead_.contains(member)) continue;
      send(member, Message::Kind::down, open.id, &result, actions);
    }
  }
}

// ---- ERA Part 2

template <class Rules>
void BasicEra<Rules>::receive(Member from, const Message& message, Actions& actions) {
  if (keeps(Rule::refuse_the_dead) && dead_.contains(from)) return;
  if (archive_.is_over(message.agreement)) return;
  switch (message.kind) {
    case Message::Kind::up: take_up(from, message, actions); break;
    case Message::Kind::down: take_down(from, message, actions); break;
    case Message::Kind::result_request: take_request(from, message, actions); break;
    default: return;  // a message of another protocol
  }
  settle(actions);
}

template <class Rules>
void BasicEra<Rules>::take_up(Member from, const Message& message, Actions& actions) {
  if (const Tally* result = archive_.find(message.agreement)) {
    if (keeps(Rule::answer_after_returning)) send(from, Message::Kind::down, message.agreement, result, actions);
    return;
  }
  Open& open = find_or_open(message.agreement);
  if (open.status == Status::not_contributed) {
    open.early.emplace_back(from, message.tally);
    return;
  }
  if (!keeps(Rule::hear_late_ups) && open.status == Status::broadcasting) return;
  combine(open.tally, message.tally, *operations_);
  const bool first = open.contributed.insert(from);
  const std::vector<Member>& children = view_of(open).children;
  if (first && std::binary_search(children.begin(), children.end(), from)) --open.missing;
  advance(open, actions);
}

template <class Rules>
void BasicEra<Rules>::take_down(Member from, const Message& message, Actions& actions) {
  if constexpr (Rules::are_complete) {
    const Tally* const result = archive_.find(message.agreement);
    require(!result || result->value == message.tally.value, "all members come to the same result");
  }
  Open* open = find(message.agreement);
  if (!open || open->status == Status::not_contributed) return;
  if (!keeps(Rule::listen_as_root) && view_of(*open).parent != from) return;
  decide(*open, message.tally, from, actions);
}

template <class Rules>
void BasicEra<Rules>::take_request(Member from, const Message& message, Actions& actions) {
  if (const Tally* result = archive_.find(message.agreement)) {
    send(from, Message::Kind::down, message.agreement, result, actions);
  }
  // The sender is root, and this member is its child. So every member between them is dead, and every member below the
  // sender.
  Open* open = find(message.agreement);
  ProcessSet gone;
  if (keeps(Rule::believe_the_elders) && from < self_) gone = ProcessSet::first(from.value);
  if (keeps(Rule::believe_the_path) && open && open->status != Status::not_contributed) {
    gone.insert(view_of(*open).tree->between(self_, from));
  }
  if (keeps(Rule::act_on_deaths_told)) {
    told_.insert(gone);
  } else {
    dead_.insert(gone);
    for (View& view : views_) look_around(view);
  }
  if (!keeps(Rule::believe_the_elders) || !keeps(Rule::believe_the_path) || !keeps(Rule::act_on_deaths_told)) {
    // These rules make the paper's own answer superfluous. Without them it is needed.
    if (open && open->status == Status::broadcasting) {
      send(from, Message::Kind::up, message.agreement, &open->tally, actions);
    }
  }
}

// ---- ERA Part 4

template <class Rules>
void BasicEra<Rules>::dead(const ProcessSet& gone, Actions& actions) {
  told_.insert(gone);
  settle(actions);
}

/// Ends every step: acts on the deaths that the step has revealed, which may reveal further ones; adopts what a
/// blocking agreement has decided on the group; and removes decided agreements.
template <class Rules>
void BasicEra<Rules>::settle(Actions& actions) {
  while (!told_.empty()) {
    const ProcessSet gone = difference(told_, dead_);
    told_.clear();
    if (!gone.empty()) discover(gone, actions);
  }
  if (!fence_failures_.empty()) adopt_common_ground();
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (open_[i].status != Status::decided) continue;
    spare_.push_back(std::move(open_[i]));
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

template <class Rules>
void BasicEra<Rules>::discover(const ProcessSet& gone, Actions& actions) {
  dead_.insert(gone);
  for (View& view : views_) {
    const bool neighbour_died =
        (view.parent && gone.contains(*view.parent)) ||
        std::any_of(view.children.begin(), view.children.end(), [&](Member child) { return gone.contains(child); });
    if (!neighbour_died) continue;
    const View before = view;
    look_around(view);
    for (Open& open : open_) {
      if (open.view == view.number && open.status != Status::not_contributed) mend(open, view, before, actions);
    }
  }
}

template <class Rules>
void BasicEra<Rules>::mend(Open& open, const View& view, const View& before, Actions& actions) {
  count_missing(open, view);
  if (open.status == Status::broadcasting && view.parent != before.parent) {
    if (view.parent) {
      if (keeps(Rule::resend_to_new_parent)) send(*view.parent, Message::Kind::up, open.id, &open.tally, actions);
    } else {
      open.promoted = true;
      open.status = Status::gathering;
      if (keeps(Rule::ask_when_promoted)) ask_silent_children(open, view, {}, actions);
    }
  } else if (open.status == Status::gathering && open.promoted) {
    if (keeps(Rule::ask_grandchildren)) ask_silent_children(open, view, before.children, actions);
  }
  advance(open, actions);
}

/// Asks the children that are not in `known` and have not contributed.
template <class Rules>
void BasicEra<Rules>::ask_silent_children(const Open& open, const View& view, std::span<const Member> known,
                                          Actions& actions) {
  for (Member child : view.children) {
    if (open.contributed.contains(child) || std::binary_search(known.begin(), known.end(), child)) continue;
    send(child, Message::Kind::result_request, open.id, nullptr, actions);
  }
}

// ---- Common ground: section 4, "Topology Deterioration Mitigation"

template <class Rules>
void BasicEra<Rules>::adopt_common_ground() {
  const View& old = views_.back();
  View view{old.number + 1, old.tree, old.agreed, {}, {}, {}};
  view.agreed.insert(fence_failures_);
  fence_failures_.clear();
  if (rebalancing_ == Rebalancing::always ||
      (rebalancing_ == Rebalancing::when_degenerated && view.tree->degenerated(view.agreed))) {
    view.tree = std::make_shared<const Tree>(view.tree->without(view.agreed));
  }
  look_around(view);
  views_.push_back(std::move(view));
  const auto in_use = [&](const View& candidate) {
    return candidate.number == views_.back().number || std::any_of(open_.begin(), open_.end(), [&](const Open& open) {
             return open.view == candidate.number && open.status != Status::decided &&
                    open.status != Status::not_contributed;
           });
  };
  const auto first_in_use = std::find_if(views_.begin(), views_.end(), in_use);
  views_.erase(views_.begin(), first_in_use);
}

template <class Rules>
void BasicEra<Rules>::look_around(View& view) const {
  view.parent = view.tree->parent(self_, dead_);
  view.tree->children(self_, dead_, view.children);
  view.partner = view.parent             ? view.parent
                 : view.children.empty() ? std::nullopt
                                         : std::optional(view.children.front());
  if (view.tree->size() - view.agreed.size() != 2) view.partner.reset();
}

template <class Rules>
void BasicEra<Rules>::count_missing(Open& open, const View& view) const {
  open.missing = static_cast<std::uint32_t>(std::count_if(
      view.children.begin(), view.children.end(), [&](Member child) { return !open.contributed.contains(child); }));
}

// ---- Book-keeping

template <class Rules>
typename BasicEra<Rules>::Open* BasicEra<Rules>::find(AgreementId id) {
  const auto at = std::lower_bound(open_.begin(), open_.end(), id,
                                   [](const Open& open, AgreementId wanted) { return open.id < wanted; });
  return at != open_.end() && at->id == id ? &*at : nullptr;
}

template <class Rules>
typename BasicEra<Rules>::Open& BasicEra<Rules>::find_or_open(AgreementId id) {
  const auto at = std::lower_bound(open_.begin(), open_.end(), id,
                                   [](const Open& open, AgreementId wanted) { return open.id < wanted; });
  if (at != open_.end() && at->id == id) return *at;
  Open fresh;
  if (!spare_.empty()) {
    fresh = std::move(spare_.back());
    spare_.pop_back();
    fresh.status = Status::not_contributed;
    fresh.promoted = false;
    fresh.offered = false;
    fresh.view = 0;
    fresh.missing = 0;
    fresh.tally = {};
    fresh.contributed.clear();
    fresh.early.clear();
  }
  fresh.id = id;
  return *open_.insert(at, std::move(fresh));
}

template <class Rules>
void BasicEra<Rules>::send(Member to, Message::Kind kind, AgreementId id, const Tally* tally, Actions& actions) {
  Actions::Send& sent = actions.sends.emplace_back();
  sent.to = to;
  sent.message.kind = kind;
  sent.message.agreement = id;
  if (tally) sent.message.tally = *tally;
}

template <class Rules>
void BasicEra<Rules>::add_to(transport::Fingerprint& print) const {
  using agreement::add_to;
  add_to(print, dead_);
  add_to(print, acknowledged_);
  print.add(next_);
  print.add(views_.size());
  for (const View& view : views_) {
    print.add(view.number);
    add_to(print, view.agreed);
    add_to(print, view.tree->left_out());
  }
  print.add(open_.size());
  for (const Open& open : open_) {
    print.add(open.id.value);
    print.add(static_cast<std::uint64_t>(open.status) * 4 + (open.promoted ? 2 : 0) + (open.offered ? 1 : 0));
    print.add(open.view);
    add_to(print, open.tally);
    add_to(print, open.contributed);
    add_to(print, open.early);
  }
  archive_.add_to(print);
}

}  // namespace mend::agreement
