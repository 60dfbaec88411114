#include "detector/detector.hpp"

#include <algorithm>
#include <utility>

namespace mend::detector {

Detector::Detector(ProcessId self, const Timing& timing)
    : self_(self), least_(timing), ring_(self, timing), inquiry_(self), watched_(self) {}

void Detector::enter(const Membership& membership, const std::vector<NodeId>& nodes, Time now, Actions& actions) {
  membership_ = membership;
  nodes_ = nodes;
  nodes_.resize(membership.processes);  // processes that are missing at the end are left out
  inquiry_.begin(membership, nodes_);
  ring_.enter(membership, now, actions);
  watched_ = self_;  // even if the emitter is the same process, the measurement begins anew
  follow_emitter(now);
}

bool Detector::receive(ProcessId from, const Message& message, Time now, Actions& actions) {
  if (message.epoch == membership_.epoch && !membership_.covers(message)) return false;
  notice_delay(now, actions);
  inquiry_.heard(from, known_dead(), actions);
  ring_.hear(from, now);
  switch (message.kind) {
    case Message::Kind::heartbeat: take_heartbeat(from, message, now, actions); break;
    case Message::Kind::new_observer:
    case Message::Kind::deaths:
    case Message::Kind::fence: ring_.receive(from, message, now, actions); break;
    default:
      if (known_dead().contains(from)) {
        actions.sends.push_back({from, {Message::Kind::fence, membership_.epoch, {}, {}}});
      } else {
        inquiry_.receive(from, message, delta(), now, actions);
      }
  }
  conclude(now, actions);
  return true;
}

/// The heartbeats carry the deaths that a broadcast has missed, all along the ring.
void Detector::take_heartbeat(ProcessId from, const Message& message, Time now, Actions& actions) {
  if (from == emitter()) learn_silence(now);
  if (message.dead.contains(self_)) {
    return ring_.receive(from, {Message::Kind::fence, message.epoch, {}, {}}, now, actions);
  }
  ring_.receive(from, message, now, actions);
  const bool believed = message.epoch == membership_.epoch && !known_dead().contains(from);
  if (believed && !message.dead.empty()) ring_.witness(message.dead, Told::nobody, now, actions);
}

void Detector::witness(const ProcessSet& gone, Told told, Time now, Actions& actions) {
  certain_.insert(gone);
  ring_.witness(gone, told, now, actions);
  conclude(now, actions);
}

void Detector::declare(const ProcessSet& gone, Time now, Actions& actions) {
  ring_.witness(gone, Told::nobody, now, actions);
  conclude(now, actions);
}

void Detector::tick(Time now, Actions& actions) {
  notice_delay(now, actions);
  ring_.tick(now, actions);
  for (Actions::Send& send : actions.sends) {
    if (send.message.kind == Message::Kind::heartbeat) send.message.dead = ring_.dead_members();
  }
  if (!actions.suspected.empty()) suspect(now, actions);
  if (now >= doubts_at()) inquiry_.open(emitter(), known_dead(), now, actions);
  conclude(now, actions);
}

bool Detector::is_here(ProcessId process) const {
  return process == self_ || nodes_[process.value] == nodes_[self_.value];
}

/// Returns the time at which this process asks all processes about the emitter.
Time Detector::doubts_at() const {
  const bool in_question = ring_.suspects_at() < never && !inquiry_.about() && !is_here(emitter());
  return in_question ? ring_.suspects_at() - delta() / 2 : never;
}

/// Handles an emitter that was silent for delta.
void Detector::suspect(Time now, Actions& actions) {
  const ProcessSet silent = std::exchange(actions.suspected, {});
  if (is_here(emitter())) {
    certain_.insert(silent);  // it is killed
    hold_dead(silent, now, actions);
  } else if (inquiry_.about() == emitter()) {
    inquiry_.suspect(now);
  } else {
    ring_.hear(emitter(), now);  // the inquiry is about another process: this emitter has to wait
  }
}

void Detector::conclude(Time now, Actions& actions) {
  const ProcessSet silent = inquiry_.conclude(known_dead(), certain_, {least_.eta, delta()}, now, actions);
  if (!silent.empty()) hold_dead(silent, now, actions);
  follow_emitter(now);
}

void Detector::hold_dead(const ProcessSet& silent, Time now, Actions& actions) {
  suspicions_ += silent.size();
  actions.found_silent.insert(silent);
  ring_.witness(silent, Told::nobody, now, actions);
}

std::optional<Time> Detector::next_deadline() const {
  const auto ring = ring_.next_deadline();
  if (!ring) return std::nullopt;
  return std::min({*ring, doubts_at(), inquiry_.next_deadline({least_.eta, delta()})});
}

// ---- Patience

/// Time in which this process should have run and did not is not counted as silence of another process.
void Detector::notice_delay(Time now, Actions& actions) {
  const auto deadline = next_deadline();
  if (!deadline) return;
  const Time due = std::max(*deadline, excused_until_);
  if (now <= due + least_.eta / 2) return;
  const Time late = now - due;
  excused_until_ = now;
  if (late >= delta()) inquiry_.ask_after_itself(known_dead(), actions);
  kept_from_running_ += late;
  // The patience must end, even if this process is late every time.
  if (now - heard_at_ - kept_from_running_ > most_patience * least_.delta) return;
  ring_.be_patient(late, now);
  inquiry_.be_patient(late);
}

bool Detector::emitter_is_overdue(Time now) const {
  return now >= ring_.suspects_at() && now <= heard_at_ + most_patience * least_.delta;
}

void Detector::follow_emitter(Time now) {
  if (watched_ == ring_.emitter()) return;
  watched_ = ring_.emitter();
  heard_at_ = now;
  beats_ = false;
  kept_from_running_ = Time{0};
}

/// Learns how long the emitter may be silent without being dead.
void Detector::learn_silence(Time now) {
  if (std::exchange(beats_, true)) {
    const Time silence = std::max(now - heard_at_ - kept_from_running_, Time{0});
    longest_silence_ = std::max(longest_silence_, silence);
    silence_ = std::min(std::max(silence, silence_ - silence_ / 64), most_patience * least_.delta / 3);
    ring_.set_delta(std::max(3 * silence_, least_.delta));
  }
  heard_at_ = now;
  kept_from_running_ = Time{0};
}

}  // namespace mend::detector
