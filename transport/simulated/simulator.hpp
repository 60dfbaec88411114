// The simulator: many processes and a network in one thread. The same seed gives the same run.
//
// Time is simulated and jumps from event to event. A process has one port: it does one thing after another, and each
// message that it sends or receives keeps it busy for a time. So a process with many neighbours is slow, as on a real
// network. A message leaves its sender, travels, and waits at the receiver until that is free.
//
//     sender    --[overhead + bytes x per_byte]--.
//                                                 `--latency (+ jitter)--.
//     receiver                                                           `--[wait][overhead]-- handled
//
// Processes on one node use a faster link. Messages between two processes never overtake each other. A process that
// dies sends nothing from that time on: if it dies in the middle of the sends of one step, the later messages are not
// sent. Every other process is told of the death after its own delay. From then on, no message of the dead process
// arrives there.

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

/// The times of one link.
struct LinkModel {
  SimulatedTime latency{1000};  ///< of the transport
  SimulatedTime overhead{300};  ///< how long one message keeps its sender busy, and again its receiver
  double per_byte = 0.1;        ///< nanoseconds per byte that the sender is busy in addition
};

struct NetworkModel {
  LinkModel between_nodes;
  LinkModel within_node{SimulatedTime{300}, SimulatedTime{150}, 0.05};
  std::uint32_t processes_per_node = 1;  ///< consecutive processes share a node
  SimulatedTime jitter{0};               ///< a random additional latency, at most this long
  SimulatedTime detection_least{5'000};  ///< a death is noticed at the earliest after this time,
  SimulatedTime detection_most{50'000};  ///< and at the latest after this time, by each process after its own delay
  bool tells_of_deaths = true;           ///< if false, no process is told of deaths
};

/// Returns a pseudo-random number that depends only on its arguments.
std::uint64_t scramble(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0);

/// The times of a simulated network, without message types.
class SimulatedNetwork {
 public:
  SimulatedNetwork(std::uint32_t processes, const NetworkModel& model, std::uint64_t seed);

  std::uint32_t size() const { return static_cast<std::uint32_t>(busy_until_.size()); }
  const LinkModel& link(ProcessId from, ProcessId to) const;

  /// Returns the time when an item that came to `process` at `arrived` has been received, which takes `overhead`.
  SimulatedTime take_turn(ProcessId process, SimulatedTime arrived, SimulatedTime overhead);
  /// The times of a message: when it has left the sender, and when it arrives.
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
  /// Returns when `observer` is told that `dead` has died. Valid only if `dead` has died and deaths are reported.
  SimulatedTime notices_at(ProcessId observer, ProcessId dead) const;

 private:
  NetworkModel model_;
  std::uint64_t seed_;
  std::uint64_t sent_ = 0;
  std::vector<SimulatedTime> busy_until_;
  std::unordered_map<ProcessId, SimulatedTime> died_;
  std::unordered_map<std::uint64_t, SimulatedTime> last_arrival_;  // for each pair of processes; only with jitter
};

/// Runs processes whose behaviour is defined by `Handler`:
///   void receive(ProcessId to, ProcessId from, const Message&);   a message has arrived
///   void dead(ProcessId to, ProcessId gone);                      `to` is told that `gone` has died
///   void wake(ProcessId);                                         a requested time has come
///   ByteCount size_of(const Message&);                            the size on the wire
/// These functions may call send, wake, compute and now, for the process concerned.
template <class Message, class Handler>
class Simulator {
 public:
  Simulator(std::uint32_t processes, const NetworkModel& model, std::uint64_t seed, Handler& handler)
      : network_(processes, model, seed), handler_(handler) {}

  std::uint32_t size() const { return network_.size(); }

  /// Returns the current time of `process`.
  SimulatedTime now(ProcessId process) const { return std::max(network_.busy_until(process), clock_); }
  /// Returns the time of the last event handled.
  SimulatedTime clock() const { return clock_; }
  bool lives(ProcessId process) const { return network_.lives_at(process, clock_); }
  std::uint64_t messages_sent() const { return messages_sent_; }

  /// Calls the handler's wake for `process` at `at`, or at once if that time has passed.
  void wake(ProcessId process, SimulatedTime at) { push({at, {}, 0, process, process, What::wake}); }

  /// Keeps `process` busy for `duration`.
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

  /// `process` dies at `at`. Every other process is told later if the model says so.
  void kill(ProcessId process, SimulatedTime at) {
    if (!network_.lives_at(process, SimulatedTime::max())) return;
    network_.kill(process, at);
    if (!network_.tells_of_deaths()) return;
    for (std::uint32_t p = 0; p < size(); ++p) {
      if (p != process.value) push({network_.notices_at({p}, process), {}, 0, process, {p}, What::notice});
    }
  }

  /// Runs until no event is left before `end`.
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
    std::uint32_t slot;  // the place of the message
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

  /// Returns true if the sender died before the message had left, or is known to be dead where it arrives.
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
