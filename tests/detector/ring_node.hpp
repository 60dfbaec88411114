// A ring detector with a clock of its own, for the timed explorer, and the promises of the detector, as a check of a
// situation.

#pragma once

#include "detector/ring.hpp"
#include "transport/simulated/timed_explorer.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace mend::detector {

inline constexpr Time tick{1};

/// A process in a ring, which may enter another epoch later.
template <class Rules>
class RingNode {
 public:
  using Message = detector::Message;
  using Outbox = transport::Outbox<Message>;
  using Core = BasicRing<Rules>;

  /// `told`: the other processes that a witness has told of a death, when it tells this process. `hears_all`: every
  /// message shows that its sender lives, as in detector/detector.cpp. Then fewer messages can be ignored, and large
  /// systems have several times as many states.
  RingNode(ProcessId self, const Timing& timing, Told told, bool hears_all)
      : ring_(self, timing), told_(told), hears_all_(hears_all) {}

  /// Enters an epoch before the run begins.
  void enter(const Membership& membership) {
    Actions none;
    ring_.enter(membership, now_, none);
  }
  /// Enters an epoch later, in a tick from `earliest` to `latest`.
  void enter_later(const Membership& membership, int earliest, int latest) { next_ = {membership, earliest, latest}; }

  const Core& core() const { return ring_; }
  /// Returns true if it has entered the last of its epochs.
  bool is_there() const { return !next_; }

  void tick(Outbox& outbox) {
    act(outbox, [&](Actions& actions) {
      now_ += detector::tick;
      if (next_ && ++ticks_ > next_->latest) enter_next(actions);
      ring_.tick(now_, actions);
      if (!actions.suspected.empty()) ring_.witness(actions.suspected, Told::nobody, now_, actions);
    });
  }
  void receive(ProcessId from, const Message& message, Outbox& outbox) {
    act(outbox, [&](Actions& actions) {
      if (hears_all_) ring_.hear(from, now_);
      ring_.receive(from, message, now_, actions);
    });
  }
  void dead(ProcessId gone, Outbox& outbox) {
    act(outbox, [&](Actions& actions) { ring_.witness(ProcessSet{gone}, told_, now_, actions); });
  }
  bool knows_dead(ProcessId process) const { return ring_.known_dead().contains(process); }

  std::size_t moves() const { return next_ && ticks_ > next_->earliest ? 1 : 0; }
  void move(std::size_t, Outbox& outbox) {
    act(outbox, [&](Actions& actions) { enter_next(actions); });
  }

  bool ignores(ProcessId from, const Message& message) const {
    const bool shows_life = hears_all_ && !ring_.fenced() && !knows_dead(from);  // it may become the emitter
    return !shows_life && ring_.ignores(from, message);
  }

  void add_to(transport::Fingerprint& print) const {
    ring_.add_to(print, now_);
    print.add(static_cast<std::uint64_t>(next_ ? ticks_ : 0));
  }
  static void add_to_print(transport::Fingerprint& print, const Message& message) { detector::add_to(print, message); }

  std::string describe_move(std::size_t) const { return fmt::format("enters epoch {}", next_->membership.epoch.value); }
  static std::string describe(const Message& message) {
    return message.kind == Message::Kind::heartbeat ? "" : to_string(message);
  }
  std::string describe() const {
    return fmt::format(" observes {}, emits to {}, knows {} dead{}", ring_.emitter().value, ring_.observer().value,
                       ring_.known_dead().to_string(), ring_.fenced() ? ", is fenced" : "");
  }

 private:
  struct Entry {
    Membership membership;
    int earliest;
    int latest;
  };

  void enter_next(Actions& actions) {
    const Membership membership = std::exchange(next_, std::nullopt)->membership;
    ring_.enter(membership, now_, actions);
  }

  template <class Step>
  void act(Outbox& outbox, Step step) {
    Actions actions;
    step(actions);
    for (Actions::Send& send : actions.sends) outbox.sends.emplace_back(send.to, std::move(send.message));
  }

  Core ring_;
  Told told_;
  bool hears_all_;
  std::optional<Entry> next_;
  int ticks_ = 0;  // how many have begun
  Time now_{0};
};

/// Returns the closest living process before (`step` -1) or after (+1) process p.
template <class Node>
std::size_t closest(const transport::TimedSituation<Node>& now, std::size_t p, int step) {
  const std::size_t count = now.nodes.size();
  std::size_t q = p;
  do {
    q = (q + count + static_cast<std::size_t>(step)) % count;
  } while (!now.lives(q));
  return q;
}

/// Returns true in a stable configuration (section 3.1.3): all know all deaths, and the ring of the living is closed.
template <class Node>
bool is_stable(const transport::TimedSituation<Node>& now) {
  for (std::size_t p = 0; p < now.nodes.size(); ++p) {
    if (!now.lives(p)) continue;
    const auto& ring = now.nodes[p]->core();
    if (!now.nodes[p]->is_there() || ring.emitter().value != closest(now, p, -1)) return false;
    const bool alone = closest(now, p, 1) == p;
    if (!alone && ring.observer().value != closest(now, p, 1)) return false;
    for (std::size_t q = 0; q < now.nodes.size(); ++q) {
      if (!now.lives(q) && !ring.known_dead().contains(ProcessId{static_cast<std::uint32_t>(q)})) return false;
    }
  }
  return true;
}

/// Accuracy: no living process is held dead. Completeness: the configuration is stable again within `bound` ticks.
template <class Node>
std::optional<std::string> broken_promise(const transport::TimedSituation<Node>& now, std::uint32_t bound) {
  for (std::size_t p = 0; p < now.nodes.size(); ++p) {
    if (!now.lives(p)) continue;
    for (std::size_t q = 0; q < now.nodes.size(); ++q) {
      if (now.lives(q) && now.nodes[p]->knows_dead(ProcessId{static_cast<std::uint32_t>(q)})) {
        return fmt::format("Accuracy: {} holds {} dead, which lives", p, q);
      }
    }
  }
  if (now.unsettled_for > bound) return fmt::format("Completeness: not stable after {} ticks", bound);
  return std::nullopt;
}

}  // namespace mend::detector
