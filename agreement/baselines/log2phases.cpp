#include "agreement/baselines/log2phases.hpp"

#include <algorithm>
#include <utility>

namespace mend::agreement {
namespace {

/// Returns the mark of the answers to a coordinator's QUERY and of its decisions.
Round term_of(Member coordinator) { return {coordinator, 1}; }

}  // namespace

Log2Phases::Log2Phases(Member self, std::shared_ptr<const Tree> tree, std::shared_ptr<const Operations> operations)
    : BaselineCore(self, tree->left_out(), std::move(operations)), tree_(std::move(tree)) {
  look_around();
  lowest_ = tree_->root({}) == self;
}

void Log2Phases::contribute(AgreementId id, const Contribution& contribution, Actions& actions) {
  const Tally mine = come_to(id, contribution, at_agreement(), "log2phases");
  votes_ = std::move(next_votes_);
  next_votes_ = {};
  voted_up_ = in_office_ = false;
  combine(votes_.tally, mine, operations());
  for (const auto& [from, tally] : std::exchange(votes_.early, {})) {
    if (ignores(from)) continue;
    combine(votes_.tally, tally, operations());
    votes_.voted.insert(from);
  }
  if (votes_.coordinator && !dead_.contains(*votes_.coordinator)) {
    send(*votes_.coordinator, Message::Kind::up, id, term_of(*votes_.coordinator), &votes_.tally, actions);
  }
  take_office_if_root(actions);
  advance(actions);
}

// ---- messages

void Log2Phases::take(Member from, const Message& message, Actions& actions) {
  if (message.agreement.value + 1 < returned_from_) return;  // all members have returned from that one
  switch (message.kind) {
    case Message::Kind::up: return take_up(from, message, actions);
    case Message::Kind::down: return take_down(message, actions);
    case Message::Kind::query: return take_query(from, message, actions);
    default: return;  // a message of another protocol
  }
}

void Log2Phases::take_up(Member from, const Message& message, Actions& actions) {
  if (message.agreement.value < returned_from_) {
    return send(from, Message::Kind::down, message.agreement, last_decided_by_, &last_result_, actions);
  }
  if (message.agreement.value >= came_to_) {
    next_votes_.early.emplace_back(from, message.tally);
    return;
  }
  combine(votes_.tally, message.tally, operations());
  if (!in_office_ || message.round.root == self()) votes_.voted.insert(from);
  advance(actions);
}

void Log2Phases::take_down(const Message& message, Actions& actions) {
  if (message.agreement.value < returned_from_ || message.agreement.value >= came_to_) return;
  if (votes_.coordinator && message.round.root < *votes_.coordinator) return;
  return_with(message.tally, in_office_ ? term_of(self()) : message.round, actions);
}

void Log2Phases::take_query(Member from, const Message& message, Actions& actions) {
  if (message.agreement.value < returned_from_) {
    return send(from, Message::Kind::down, message.agreement, last_decided_by_, &last_result_, actions);
  }
  Votes& votes = votes_for(message.agreement);
  if (votes.coordinator && from < *votes.coordinator) return;  // that coordinator is dead, or no other member had asked
  votes.coordinator = from;
  if (message.agreement.value < came_to_) {
    send(from, Message::Kind::up, message.agreement, term_of(from), &votes.tally, actions);
  }
}

// ---- failures

void Log2Phases::dead(const ProcessSet& gone, Actions& actions) {
  dead_.insert(gone);
  const std::optional<Member> parent_before = parent_;
  look_around();
  take_over_last_result(actions);
  if (!at_agreement()) return;
  take_office_if_root(actions);
  if (voted_up_ && parent_ != parent_before && parent_) {
    send(*parent_, Message::Kind::up, {came_to_ - 1}, {}, &votes_.tally, actions);
  }
  advance(actions);
}

/// If this member has become the lowest living one, sends the last result to all in its own name. Some members may have
/// answered a coordinator that died before it decided; they refuse the decisions of earlier coordinators.
void Log2Phases::take_over_last_result(Actions& actions) {
  if (lowest_ || tree_->root(dead_) != self()) return;
  lowest_ = true;
  if (returned_from_ == 0) return;
  last_decided_by_ = term_of(self());
  const AgreementId id{returned_from_ - 1};
  each_other_living(
      [&](Member member) { send(member, Message::Kind::down, id, last_decided_by_, &last_result_, actions); });
}

/// If the tree's own root is dead and this member is the lowest living one, asks all members for their votes.
void Log2Phases::take_office_if_root(Actions& actions) {
  if (in_office_ || parent_ || tree_->root({}) == self()) return;
  in_office_ = true;
  votes_.coordinator.reset();
  votes_.voted.clear();
  const AgreementId id{came_to_ - 1};
  each_other_living([&](Member member) { send(member, Message::Kind::query, id, term_of(self()), nullptr, actions); });
}

// ---- the two phases

void Log2Phases::advance(Actions& actions) {
  if (!at_agreement()) return;
  const AgreementId id{came_to_ - 1};
  const bool ready = in_office_ ? everybody_voted() : !voted_up_ && children_voted();
  if (!ready) return;
  if (dead_ != agreed_) add_failures(votes_.tally, difference(dead_, agreed_));
  if (parent_) {
    voted_up_ = true;
    send(*parent_, Message::Kind::up, id, {}, &votes_.tally, actions);
    return;
  }
  const Tally result = votes_.tally;
  return_with(result, term_of(self()), actions);
}

bool Log2Phases::children_voted() const {
  return std::all_of(children_.begin(), children_.end(), [&](Member child) { return votes_.voted.contains(child); });
}

bool Log2Phases::everybody_voted() const {
  ProcessSet heard = votes_.voted;
  heard.insert(dead_);
  heard.insert(self());
  return heard.contains(ProcessSet::first(tree_->size()));
}

void Log2Phases::return_with(const Tally& result, Round decided_by, Actions& actions) {
  const AgreementId id{came_to_ - 1};
  const auto tell = [&](Member member) { send(member, Message::Kind::down, id, decided_by, &result, actions); };
  if (in_office_) {
    each_other_living(tell);
  } else {
    // Members that voted here because their parents died wait for this member, as its children do.
    std::for_each(children_.begin(), children_.end(), tell);
    for (Member member : difference(votes_.voted, dead_).members()) {
      if (!std::binary_search(children_.begin(), children_.end(), member)) tell(member);
    }
  }
  ++returned_from_;
  actions.decided.push_back({id, decision_of(result)});
  last_result_ = result;
  last_decided_by_ = decided_by;
  votes_ = {};
  if (const Sets* sets = result.sets.get(); sets && !sets->failed.empty()) {
    dead_.insert(sets->failed);
    agreed_.insert(sets->failed);
    tree_ = std::make_shared<const Tree>(tree_->without(agreed_));
    look_around();
    take_over_last_result(actions);
  }
}

// ---- book-keeping

void Log2Phases::look_around() {
  parent_ = tree_->parent(self(), dead_);
  tree_->children(self(), dead_, children_);
}

template <class Function>
void Log2Phases::each_other_living(Function function) const {
  for (Member member{0}; member.value < tree_->size(); ++member.value) {
    if (member != self() && !dead_.contains(member)) function(member);
  }
}

void Log2Phases::send(Member to, Message::Kind kind, AgreementId id, Round round, const Tally* tally,
                      Actions& actions) const {
  Actions::Send& sent = actions.sends.emplace_back();
  sent.to = to;
  sent.message.kind = kind;
  sent.message.agreement = id;
  sent.message.round = round;
  if (tally) sent.message.tally = *tally;
}

void Log2Phases::add_to(transport::Fingerprint& print) const {
  using agreement::add_to;
  BaselineCore::add_to(print);
  print.add(returned_from_);
  print.add((voted_up_ ? 1U : 0U) + (in_office_ ? 2U : 0U) + (lowest_ ? 4U : 0U));
  for (const Votes* votes : {&votes_, &next_votes_}) {
    add_to(print, votes->tally);
    add_to(print, votes->voted);
    add_to(print, votes->early);
    print.add(votes->coordinator ? votes->coordinator->value + 1 : 0);
  }
  add_to(print, last_result_);
  print.add(last_decided_by_.root.value);
}

}  // namespace mend::agreement
