#include "detector/broadcast.hpp"

#include "detector/hypercubes.hpp"

#include <algorithm>

namespace mend::detector {
namespace {

/// The processes that a broadcast is for, labelled from its source.
class Audience {
 public:
  Audience(const Membership& membership, const Message& message)
      : absent_(membership.left_out), processes_(membership.processes), source_(message.source) {
    absent_.insert(message.dead);
    count_ = processes_ - static_cast<std::uint32_t>(absent_.count_below({processes_}));
    source_place_ = place(source_);
  }

  std::uint32_t count() const { return count_; }
  bool includes(ProcessId process) const { return process.value < processes_ && !absent_.contains(process); }
  Label label(ProcessId process) const { return (place(process) + count_ - source_place_) % count_; }

  ProcessId process(Label label) const {
    std::uint32_t value = (label + source_place_) % count_;
    for (const ProcessSet::Run& run : absent_.runs()) {
      if (value < run.first.value) break;
      value += run.last.value - run.first.value + 1;
    }
    return {value};
  }

 private:
  /// Returns how many processes of the audience come before `process`.
  std::uint32_t place(ProcessId process) const {
    return process.value - static_cast<std::uint32_t>(absent_.count_below(process));
  }

  ProcessSet absent_;
  std::uint32_t processes_;
  ProcessId source_;
  std::uint32_t count_ = 0;
  std::uint32_t source_place_ = 0;
};

/// Returns the place in `heard` where `source` is, or belongs.
auto find(auto& heard, ProcessId source) {
  return std::lower_bound(heard.begin(), heard.end(), source,
                          [](const auto& entry, ProcessId wanted) { return entry.source < wanted; });
}

void send_on(const Audience& audience, ProcessId self, std::optional<Label> from, const Message& message,
             Actions& actions) {
  for (Label next : neighbours(audience.count(), audience.label(self), from)) {
    actions.sends.push_back({audience.process(next), message});
  }
}

}  // namespace

void Broadcast::begin(Membership membership) {
  membership_ = std::move(membership);
  heard_.clear();
}

void Broadcast::announce(const ProcessSet& dead, Actions& actions) {
  const Message message{Message::Kind::deaths, membership_.epoch, self_, dead};
  send_on(Audience(membership_, message), self_, std::nullopt, message, actions);
}

void Broadcast::pass_on(ProcessId from, const Message& message, Actions& actions) {
  const Audience audience(membership_, message);
  for (ProcessId needed : {self_, from, message.source}) {
    if (!audience.includes(needed)) return;
  }
  if (has_passed_on(message)) return;
  note(message);
  send_on(audience, self_, audience.label(from), message, actions);
}

bool Broadcast::has_passed_on(const Message& message) const {
  if (message.epoch != membership_.epoch) return false;
  if (message.source == self_) return true;
  const auto heard = find(heard_, message.source);
  return heard != heard_.end() && heard->source == message.source && heard->dead.contains(message.dead);
}

void Broadcast::note(const Message& message) {
  const auto at = find(heard_, message.source);
  if (at != heard_.end() && at->source == message.source) {
    at->dead.insert(message.dead);
  } else {
    heard_.insert(at, {message.source, message.dead});
  }
}

void Broadcast::add_to(transport::Fingerprint& print) const {
  print.add(membership_.epoch.value);
  print.add(membership_.processes);
  detector::add_to(print, membership_.left_out);
  for (const Heard& heard : heard_) {
    print.add(heard.source.value);
    detector::add_to(print, heard.dead);
  }
}

}  // namespace mend::detector
