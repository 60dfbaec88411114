// The simulator: many processes and a network in one thread, the same run every time for the same seed.
//
// Time is simulated and jumps from event to event. A process has one port: it does one thing after another, and
// each message it sends or receives keeps it busy for a while, so that a process with many neighbours is slow, as
// real ones are. A message leaves its sender, travels, and waits at the receiver until that is free.
//
//     sender    --[overhead + bytes x per_byte]--.
//                                                 `--latency (+ jitter)--.
//     receiver                                                           `--[wait][overhead]-- handled
//
// Processes on one node talk over a faster link. Messages between two processes never overtake each other. A
// process that dies sends nothing from that moment on: of several messages that one step sends, the later ones are
// not sent if it dies before their turn. Every other process is told of the death after a delay of its own; nothing
// of the dead arrives at it any more from then on.

#pragma once

#include "base/ids.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mend::transport {

/// Time since the simulation began.
using SimulatedTime = std::chrono::duration<std::int64_t, std::nano>;

/// How long one link takes.
struct LinkModel {
  SimulatedTime latency{1000};  ///< on the way
  SimulatedTime overhead{300};  ///< that one message keeps its sender busy, and again its receiver
  double per_byte = 0.1;        ///< nanoseconds that a byte keeps the sender busy beyond that
};

struct NetworkModel {
  LinkModel between_nodes;
  LinkModel within_node{SimulatedTime{300}, SimulatedTime{150}, 0.05};
  std::uint32_t processes_per_node = 1;  ///< consecutive processes share a node
  SimulatedTime jitter{0};               ///< up to this much longer on the way, by chance
  SimulatedTime detection_least{5'000};  ///< a death is noticed no earlier than this after it,
  SimulatedTime detection_most{50'000};  ///< and no later, by each process at a time of its own
  bool tells_of_deaths = true;           ///< otherwise nobody is told: they must find out
};

/// A number that looks random and depends on nothing but its arguments.
std::uint64_t scramble(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0);

/// What the simulator asks about times; no message types here.
class SimulatedNetwork {
 public:
  SimulatedNetwork(std::uint32_t processes, const NetworkModel& model, std::uint64_t seed);

  std::uint32_t size() const { return static_cast<std::uint32_t>(busy_until_.size()); }
  const LinkModel& link(ProcessId from, ProcessId to) const;

  /// When something that has come to `process` at `arrived` has been received, `overhead` of its time later.
  SimulatedTime take_turn(ProcessId process, SimulatedTime arrived, SimulatedTime overhead);
  /// Has `from` send: when the message has left, and when it arrives.
  struct Trip {
    SimulatedTime left;
    SimulatedTime arrives;
  };
  Trip send(ProcessId from, ProcessId to, ByteCount bytes);

  SimulatedTime busy_until(ProcessId process) const { return busy_until_[process.value]; }

  void kill(ProcessId process, SimulatedTime at);
  bool lives_at(ProcessId process, SimulatedTime time) const;
  bool anybody_died() const { return !died_.empty(); }
  bool tells_of_deaths() const { return model_.tells_of_deaths; }
  /// When `observer` is told that `dead` has died. Meaningful once it has, if it is told.
  SimulatedTime notices_at(ProcessId observer, ProcessId dead) const;

 private:
  NetworkModel model_;
  std::uint64_t seed_;
  std::uint64_t sent_ = 0;
  std::vector<SimulatedTime> busy_until_;
  std::unordered_map<ProcessId, SimulatedTime> died_;
  std::unordered_map<std::uint64_t, SimulatedTime> last_arrival_;  // of a pair of processes; only with jitter
};

/// Runs processes whose behaviour is `Handler`'s:
///   void receive(ProcessId to, ProcessId from, const Message&);   a message has come
///   void dead(ProcessId to, ProcessId gone);                      `to` is told that `gone` has died
///   void wake(ProcessId);                                         a time asked for has come
///   ByteCount size_of(const Message&);                            what it takes on the wire
/// From within these it may call send, wake, compute and now, for the process concerned.
template <class Message, class Handler>
class Simulator {
 public:
  Simulator(std::uint32_t processes, const NetworkModel& model, std::uint64_t seed, Handler& handler)
      : network_(processes, model, seed), handler_(handler) {}

  std::uint32_t size() const { return network_.size(); }

  /// The moment that `process` has come to.
  SimulatedTime now(ProcessId process) const { return std::max(network_.busy_until(process), clock_); }
  /// The moment of the last event taken.
  SimulatedTime clock() const { return clock_; }
  bool lives(ProcessId process) const { return network_.lives_at(process, clock_); }
  std::uint64_t messages_sent() const { return messages_sent_; }

  /// Calls the handler's wake for `process` at `at`, or at once if that is past.
  void wake(ProcessId process, SimulatedTime at) { push({at, {}, 0, process, process, What::wake}); }

  /// Keeps `process` busy.
  void compute(ProcessId process, SimulatedTime duration) { network_.take_turn(process, clock_, duration); }

  void send(ProcessId from, ProcessId to, Message message) {
    const auto trip = network_.send(from, to, handler_.size_of(message));
    ++messages_sent_;
    std::uint32_t slot = static_cast<std::uint32_t>(messages_.size());
    if (free_.empty()) {
      messages_.push_back(std::move(message));
    } else {
      slot = free_.back();
      free_.pop_back();
      messages_[slot] = std::move(message);
    }
    push({trip.arrives, trip.left, slot, from, to, What::arrival});
  }

  /// `process` dies at `at`, and every other process is told later if the model says so.
  void kill(ProcessId process, SimulatedTime at) {
    if (!network_.lives_at(process, SimulatedTime::max())) return;
    network_.kill(process, at);
    if (!network_.tells_of_deaths()) return;
    for (std::uint32_t p = 0; p < size(); ++p) {
      if (p != process.value) push({network_.notices_at({p}, process), {}, 0, process, {p}, What::notice});
    }
  }

  /// Goes on until nothing is left to happen, or not before `end`.
  void run(SimulatedTime end = SimulatedTime::max()) {
    while (!heap_.empty() && heap_.front().at < end) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Event event = heap_.back();
      heap_.pop_back();
      clock_ = event.at;
      take(event);
    }
  }

 private:
  enum class What : std::uint8_t { arrival, notice, wake };
  struct Event {
    SimulatedTime at;
    SimulatedTime left;  // when the message left its sender
    std::uint32_t slot;  // where the message is
    ProcessId from;
    ProcessId to;
    What what;
    std::uint64_t number = 0;  // breaks ties, so that runs repeat
  };

  static bool later(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.number > b.number; }

  void push(Event event) {
    event.number = pushed_++;
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  void take(const Event& event) {
    if (event.what == What::arrival) {
      const Message message = std::move(messages_[event.slot]);
      free_.push_back(event.slot);
      if (!network_.lives_at(event.to, event.at) || lost(event)) return;
      const auto received = network_.take_turn(event.to, event.at, network_.link(event.from, event.to).overhead);
      if (!network_.lives_at(event.to, received)) return;
      handler_.receive(event.to, event.from, message);
      return;
    }
    if (!network_.lives_at(event.to, event.at)) return;
    network_.take_turn(event.to, event.at, SimulatedTime{0});
    if (event.what == What::notice) {
      handler_.dead(event.to, event.from);
    } else {
      handler_.wake(event.to);
    }
  }

  /// Whether the sender died before the message had left, or is known dead where it arrives.
  bool lost(const Event& event) const {
    if (!network_.anybody_died() || network_.lives_at(event.from, event.at)) return false;
    if (!network_.lives_at(event.from, event.left)) return true;
    return network_.tells_of_deaths() && network_.notices_at(event.to, event.from) <= event.at;
  }

  SimulatedNetwork network_;
  Handler& handler_;
  SimulatedTime clock_{0};
  std::uint64_t pushed_ = 0;
  std::uint64_t messages_sent_ = 0;
  std::vector<Event> heap_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
};

}  // namespace mend::transport
