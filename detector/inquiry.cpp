#include "detector/inquiry.hpp"

#include <algorithm>

namespace mend::detector {
namespace {

/// Returns `time` after `moment`; `never` if `moment` is never.
Time later(Time moment, Time time) { return moment == never ? never : moment + time; }

}  // namespace

void Inquiry::begin(const Membership& membership, const std::vector<NodeId>& nodes) {
  membership_ = membership;
  nodes_ = nodes;
  open_.reset();
  followed_.reset();
}

std::optional<ProcessId> Inquiry::about() const {
  return open_ && open_->observer == self_ ? std::optional(open_->silent) : std::nullopt;
}

void Inquiry::open(ProcessId silent, const ProcessSet& dead, Time now, Actions& actions) {
  ask(silent, self_, dead, now, never, actions);
}

void Inquiry::suspect(Time now) { open_->suspected = now; }

void Inquiry::ask(ProcessId silent, ProcessId observer, const ProcessSet& dead, Time now, Time suspected,
                  Actions& actions) {
  open_ = {silent, observer, now, suspected, {self_}, never};
  tell_all(Message::Kind::inquiry, observer, silent, dead, actions);
}

/// No process follows this inquiry, and the answers change nothing, because none is awaited.
void Inquiry::ask_after_itself(const ProcessSet& dead, Actions& actions) const {
  tell_all(Message::Kind::inquiry, self_, self_, dead, actions);
}

void Inquiry::tell_all(Message::Kind kind, ProcessId source, ProcessId silent, const ProcessSet& dead,
                       Actions& actions) const {
  for (std::uint32_t i = 0; i < membership_.processes; ++i) {
    const bool is_there = membership_.includes({i}) && !dead.contains(ProcessId{i});
    if (is_there && i != self_.value) actions.sends.push_back({{i}, {kind, membership_.epoch, source, {silent}}});
  }
}

void Inquiry::heard(ProcessId process, const ProcessSet& dead, Actions& actions) {
  if (followed_ && followed_->silent == process) followed_.reset();
  if (!open_ || open_->silent != process || open_->judged) return;
  if (open_->observer == self_) tell_all(Message::Kind::withdrawal, self_, process, dead, actions);
  open_.reset();
}

void Inquiry::receive(ProcessId from, const Message& message, Time delta, Time now, Actions& actions) {
  const bool current = message.epoch == membership_.epoch;
  switch (message.kind) {
    case Message::Kind::inquiry:
      actions.sends.push_back({from, {Message::Kind::answer, message.epoch, self_, message.dead}});
      if (current && !followed_ && message.source == from && !message.dead.contains(self_) &&
          !message.dead.contains(from)) {
        followed_ = {message.dead.runs().front().first, from, now + delta};
      }
      break;
    case Message::Kind::answer:
      if (current && open_ && message.dead.contains(open_->silent)) open_->answered.insert(from);
      break;
    case Message::Kind::withdrawal:
      if (current && followed_ && message.dead.contains(followed_->silent)) followed_.reset();
      break;
    default: break;
  }
}

ProcessSet Inquiry::conclude(const ProcessSet& dead, const ProcessSet& certain, const Timing& timing, Time now,
                             Actions& actions) {
  if (followed_ && dead.contains(followed_->silent)) followed_.reset();
  if (followed_ && now >= followed_->until) {
    if (!open_) ask(followed_->silent, followed_->observer, dead, now, now, actions);
    followed_.reset();
  }
  if (!open_) return {};

  const bool told_otherwise = !open_->judged && dead.contains(open_->silent);
  if (open_->enough == never && is_quorum(open_->answered, certain)) open_->enough = now;
  if (told_otherwise || (open_->enough < never && open_->observer != self_)) {
    open_.reset();
    return {};
  }

  ProcessSet silent;
  if (!open_->judged && now >= verdict(timing)) {
    open_->judged = true;
    silent.insert(open_->silent);
  }
  if (now >= end(timing)) {
    if (open_->judged) {
      silent.insert(silent_machine());
    } else {
      actions.cut_off = true;
    }
    open_.reset();
  }
  return difference(silent, dead);
}

/// Returns the time at which the silent process is declared dead.
Time Inquiry::verdict(const Timing& timing) const {
  const Time grace = std::max(timing.delta / 4, timing.delta / 8 + timing.eta);
  return std::max(open_->suspected, later(open_->enough, grace));
}

/// Returns the time at which nothing more is expected of this inquiry.
Time Inquiry::end(const Timing& timing) const {
  if (open_->enough == never) return later(open_->suspected, timing.delta);
  return std::max(verdict(timing), open_->begun + timing.delta);
}

ProcessSet Inquiry::silent_machine() const {
  ProcessSet silent;
  for (std::uint32_t i = 0; i < membership_.processes; ++i) {
    const bool beside_it = nodes_[i] == nodes_[open_->silent.value];
    if (beside_it && membership_.includes({i}) && !open_->answered.contains(ProcessId{i})) silent.insert(ProcessId{i});
  }
  return silent;
}

/// Returns true if `present` are more than half of the members without `gone`, or half of them including the lowest.
bool Inquiry::is_quorum(const ProcessSet& present, const ProcessSet& gone) const {
  const ProcessSet all = difference(membership_.members(), gone);
  const ProcessSet here = difference(all, difference(all, present));
  if (all.empty()) return true;
  const ProcessId lowest = all.runs().front().first;
  return 2 * here.size() > all.size() || (2 * here.size() == all.size() && here.contains(lowest));
}

void Inquiry::be_patient(Time late) {
  if (open_) {
    open_->begun += late;
    open_->suspected = later(open_->suspected, late);
    open_->enough = later(open_->enough, late);
  }
  if (followed_) followed_->until += late;
}

Time Inquiry::next_deadline(const Timing& timing) const {
  Time next = followed_ ? followed_->until : never;
  if (open_ && !open_->judged) next = std::min(next, verdict(timing));
  if (open_) next = std::min(next, end(timing));
  return next;
}

}  // namespace mend::detector
