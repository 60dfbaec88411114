// The rules of the ring (detector/ring.hpp), as templates. ring.cpp instantiates the detector; tests instantiate
// detectors that lack a rule.

#pragma once

#include "detector/ring.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace mend::detector {

template <class Rules>
BasicRing<Rules>::BasicRing(ProcessId self, const Timing& timing)
    : self_(self), timing_(timing), broadcast_(self), emitter_(self), observer_(self) {
  if (timing.eta <= Time{0} || timing.delta <= timing.eta) {
    throw UsageError("a failure detector needs a time-out that is longer than the period of heartbeats");
  }
}

// ---- Initialisation, and joining

template <class Rules>
void BasicRing<Rules>::enter(Membership membership, Time now, Actions& actions) {
  if (!membership.includes(self_)) throw UsageError("a process can only enter a ring that it is a member of");
  if (entered_ && membership.epoch <= ring().epoch) {
    throw UsageError("a detector's epochs must be entered in order, each once");
  }
  if (fenced_) return;
  entered_ = true;
  dead_.insert(membership.left_out);
  broadcast_.begin(std::move(membership));
  emitter_ = predecessor(self_);
  observer_ = successor(self_);
  emits_at_ = now;
  suspects_at_ = now + 2 * timing_.delta;
  if (dead_.contains(emitter_)) pass_over(now, actions);
  std::vector<Early> early;
  early.swap(early_);
  for (const Early& waiting : early) receive(waiting.from, waiting.message, now, actions);
}

// ---- T1 and T3

template <class Rules>
void BasicRing<Rules>::tick(Time now, Actions& actions) {
  if (alone() || fenced_) return;
  if (now >= emits_at_) emit(now, actions);
  if (now >= suspects_at_) {
    suspects_at_ = never;
    actions.suspected.insert(emitter_);
  }
}

template <class Rules>
void BasicRing<Rules>::be_patient(Time late, Time now) {
  if (suspects_at_ < never) suspects_at_ = std::max(suspects_at_ + late, now + 2 * timing_.eta);
}

template <class Rules>
void BasicRing<Rules>::hear(ProcessId from, Time now) {
  if (from != emitter_) return;
  const Time trusted_until = now + timing_.delta;
  const bool may_have_longer = suspects_at_ < never && keeps(Rule::keep_double_time_out);
  suspects_at_ = may_have_longer ? std::max(suspects_at_, trusted_until) : trusted_until;
}

template <class Rules>
std::optional<Time> BasicRing<Rules>::next_deadline() const {
  if (alone() || fenced_) return std::nullopt;
  return std::min(emits_at_, suspects_at_);
}

template <class Rules>
void BasicRing<Rules>::emit(Time now, Actions& actions) {
  emits_at_ = now + timing_.eta;
  if (!dead_.contains(observer_)) send(observer_, Message::Kind::heartbeat, actions);
}

/// Closes the ring over emitters known to be dead.
template <class Rules>
void BasicRing<Rules>::reconnect(Time now, Actions& actions) {
  emitter_ = find_emitter();
  suspects_at_ = now + (keeps(Rule::double_time_out) ? 2 : 1) * timing_.delta;
  if (keeps(Rule::tell_the_emitter) && !alone()) send(emitter_, Message::Kind::new_observer, actions);
}

template <class Rules>
void BasicRing<Rules>::pass_over(Time now, Actions& actions) {
  const ProcessSet newest{emitter_};
  reconnect(now, actions);
  if (!keeps(Rule::announce) || alone()) return;
  if (keeps(Rule::tell_the_list)) {
    announce(actions);
  } else {
    broadcast_.announce(newest, actions);
  }
}

template <class Rules>
void BasicRing<Rules>::announce(Actions& actions) {
  broadcast_.announce(dead_members(), actions);
}

template <class Rules>
ProcessId BasicRing<Rules>::find_emitter() const {
  ProcessId candidate = predecessor(emitter_);
  while (candidate != self_ && dead_.contains(candidate)) candidate = predecessor(candidate);
  return candidate;
}

// ---- T2, T4 and T5

template <class Rules>
void BasicRing<Rules>::receive(ProcessId from, const Message& message, Time now, Actions& actions) {
  if (fenced_) return;
  const bool is_dead = dead_.contains(from);
  if (is_dead && message.kind == Message::Kind::heartbeat) return send(from, Message::Kind::fence, actions);
  const bool names_this = message.kind == Message::Kind::deaths && message.dead.contains(self_);
  if (message.kind == Message::Kind::fence || names_this) {
    const bool old = entered_ && message.epoch < ring().epoch;
    if (believes(from) && !old) fence(actions);
    return;
  }
  const bool early = !entered_ || message.epoch > ring().epoch;
  if (early && message.kind == Message::Kind::heartbeat) return;
  if (early && keeps(Rule::keep_the_early)) return early_.push_back({from, message});
  if (keeps(Rule::one_epoch) && message.epoch != ring().epoch) return;
  if (!ring().covers(message)) return;  // it came before its epoch began, and is invalid in it
  take(from, message, now, actions);
}

/// Returns true if this process believes the statement of `from` that it is dead itself. Of two processes that consider
/// each other dead, the one with the higher number gives in.
template <class Rules>
bool BasicRing<Rules>::believes(ProcessId from) const {
  return !dead_.contains(from) || from < self_;
}

template <class Rules>
void BasicRing<Rules>::take(ProcessId from, const Message& message, Time now, Actions& actions) {
  switch (message.kind) {
    case Message::Kind::heartbeat:
      if (from == emitter_) suspects_at_ = now + timing_.delta;
      break;
    case Message::Kind::new_observer: take_new_observer(from, now, actions); break;
    case Message::Kind::deaths: take_deaths(from, message, now, actions); break;
    default: break;  // not a message of the ring
  }
}

template <class Rules>
void BasicRing<Rules>::take_new_observer(ProcessId from, Time now, Actions& actions) {
  if (from == self_ || !ring().includes(from)) return;
  if (keeps(Rule::refuse_the_dead) && dead_.contains(from)) return send(from, Message::Kind::fence, actions);
  if (keeps(Rule::take_new_observer)) observer_ = from;
  emit(now, actions);
  if (!keeps(Rule::believe_the_path)) return;
  ProcessSet between;
  for (ProcessId process = successor(self_); process != from; process = successor(process)) between.insert(process);
  if (learn(between, actions)) pass_over(now, actions);
}

template <class Rules>
void BasicRing<Rules>::take_deaths(ProcessId from, const Message& message, Time now, Actions& actions) {
  if (keeps(Rule::pass_on)) broadcast_.pass_on(from, message, actions);
  const bool emitter_is_dead = learn(message.dead, actions);
  if (!emitter_is_dead) return;
  if (keeps(Rule::announce_when_told)) {
    pass_over(now, actions);
  } else {
    reconnect(now, actions);
  }
}

// ---- Deaths

template <class Rules>
void BasicRing<Rules>::witness(const ProcessSet& gone, Told told, Time now, Actions& actions) {
  if (fenced_ || dead_.contains(gone)) return;
  const ProcessSet known = dead_members();
  if (learn(gone, actions)) {
    pass_over(now, actions);
  } else if (told == Told::nobody && !alone() && dead_members() != known) {
    announce(actions);
  }
}

template <class Rules>
ProcessSet BasicRing<Rules>::dead_members() const {
  const ProcessSet members = ring().members();
  return difference(members, difference(members, dead_));
}

/// Adds to the known deaths. Returns true if the emitter is among the new ones.
template <class Rules>
bool BasicRing<Rules>::learn(const ProcessSet& gone, Actions& actions) {
  const ProcessSet news = difference(gone, dead_);
  if (news.empty()) return false;
  if (news.contains(self_)) {
    fence(actions);
    return false;
  }
  dead_.insert(news);
  actions.died.insert(news);
  return news.contains(emitter_);
}

template <class Rules>
void BasicRing<Rules>::fence(Actions& actions) {
  fenced_ = true;
  actions.fenced = true;
}

// ---- Book-keeping

template <class Rules>
ProcessId BasicRing<Rules>::predecessor(ProcessId process) const {
  do {
    process.value = (process.value == 0 ? ring().processes : process.value) - 1;
  } while (ring().left_out.contains(process));
  return process;
}

template <class Rules>
ProcessId BasicRing<Rules>::successor(ProcessId process) const {
  do {
    process.value = process.value + 1 == ring().processes ? 0 : process.value + 1;
  } while (ring().left_out.contains(process));
  return process;
}

template <class Rules>
bool BasicRing<Rules>::ignores(ProcessId from, const Message& message) const {
  if (fenced_) return true;
  const bool is_dead = dead_.contains(from);
  const bool old = entered_ && message.epoch < ring().epoch;
  if (message.kind == Message::Kind::fence || message.dead.contains(self_)) {
    return !believes(from) || old;
  }
  if (message.kind == Message::Kind::heartbeat && is_dead) return false;
  if (!entered_ || message.epoch > ring().epoch) return false;
  if (old) return keeps(Rule::one_epoch);
  return message.kind == Message::Kind::deaths && broadcast_.has_passed_on(message);
}

template <class Rules>
void BasicRing<Rules>::send(ProcessId to, Message::Kind kind, Actions& actions) const {
  actions.sends.push_back({to, {kind, ring().epoch, {}, {}}});
}

template <class Rules>
void BasicRing<Rules>::add_to(transport::Fingerprint& print, Time now) const {
  broadcast_.add_to(print);
  print.add((entered_ ? 1U : 0U) + (fenced_ ? 2U : 0U));
  detector::add_to(print, dead_);
  print.add(emitter_.value);
  print.add(observer_.value);
  if (next_deadline()) {
    print.add(static_cast<std::uint64_t>((emits_at_ - now).count()));
    print.add(static_cast<std::uint64_t>(suspects_at_ < never ? (suspects_at_ - now).count() : 0));
  }
  for (const Early& waiting : early_) {
    print.add(waiting.from.value);
    detector::add_to(print, waiting.message);
  }
}

}  // namespace mend::detector
