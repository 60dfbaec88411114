// The explorer: every possible run of a small system.
//
// A protocol core is a pure object. So n cores, the messages between them and the set of dead processes are a state,
// and the list of possible events is short: a message is delivered, a process dies, a death is noticed, a caller acts.
// The explorer visits every reachable state, breadth first, and checks the promises of the protocol in each. It shows a
// violation as the shortest run that leads to it.
//
// The possible events are:
//   - the first message of any channel is delivered (one channel for each ordered pair of processes, in order);
//   - the caller of a living process makes one of the moves that it may make now;
//   - a process dies, while the limit of deaths is not reached; messages on their way to it are gone;
//   - a living process is told that another is dead. Messages of the dead process that have not been delivered to it by
//     then are lost.
// So the last messages of a dead process arrive or do not arrive, separately for each receiver. That includes every
// death between two sends of one step: the receivers whose message was never sent are those that learn of the death
// before the message would have been delivered.
//
// A state takes some 50 bytes, because the local state of a process and the content of a message are each stored once
// and numbered. The result of a step in a local state is also stored and not computed again. Millions of states are
// visited per second, and tens of millions fit into memory.

#pragma once

#include "base/ids.hpp"
#include "transport/simulated/fingerprint.hpp"
#include "transport/simulated/interned.hpp"
#include "transport/simulated/state_arena.hpp"
#include "transport/simulated/state_graph.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mend::transport {

/// The messages that one step of a process sends, in order.
template <class Message>
struct Outbox {
  std::vector<std::pair<ProcessId, Message>> sends;
};

/// One process of the explored system, with or without time: a core with its caller. Processes are numbered from 0.
template <class Node>
concept ExploredProcess = std::copyable<Node> &&
    requires(Node node, const Node& seen, ProcessId process, const typename Node::Message& message,
             Outbox<typename Node::Message>& outbox, Fingerprint& print) {
  /// The number of moves that the caller may make now; the first, second, ... of them is made.
  { seen.moves() } -> std::convertible_to<std::size_t>;
  node.move(std::size_t{}, outbox);
  node.receive(process, message, outbox);
  node.dead(process, outbox);
  seen.add_to(print);
  Node::add_to_print(print, message);
  /// For transcripts: descriptions of the first, second, ... move, of a message, and of a state.
  { seen.describe_move(std::size_t{}) } -> std::convertible_to<std::string>;
  { Node::describe(message) } -> std::convertible_to<std::string>;
  { seen.describe() } -> std::convertible_to<std::string>;
};

template <class Node>
concept Explorable = ExploredProcess<Node> && requires(const Node& seen, ProcessId process) {
  /// True if everything that `process` sends will be ignored and news of its death changes nothing.
  { seen.ignores(process) } -> std::convertible_to<bool>;
};

/// A state, as it is passed to the promises.
template <class Node>
struct Situation {
  std::span<const Node* const> nodes;
  std::uint32_t living;  ///< bit p: process p lives
  bool at_rest;          ///< no event but further deaths is possible any more
  bool lives(std::size_t process) const { return (living >> process & 1U) != 0; }
};

struct Exploration {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;         ///< transitions between them
  std::uint64_t at_rest = 0;       ///< states in which no event but further deaths is possible
  std::uint64_t local_states = 0;  ///< different local states of the processes
  std::string violation;           ///< the broken promise; empty if there is none
  std::string transcript;          ///< the shortest run that breaks it
  bool complete = false;           ///< true if every state was visited
};

/// The violation that is reported if a run contains a cycle.
inline constexpr const char* endless_run = "Termination: a run goes round in a circle";

struct ExplorationLimits {
  std::uint32_t deaths = 0;            ///< how many processes may die
  std::uint64_t states = 100'000'000;  ///< give up beyond this many
  bool look_for_endless_runs = true;   ///< whether to check that no run contains a cycle
  bool remember_the_dead = false;      ///< whether the promise reads the state of dead processes (many more states)
};

template <Explorable Node>
class Explorer {
 public:
  using Message = typename Node::Message;
  /// Returns the broken promise in a situation, if there is one.
  using Promise = std::function<std::optional<std::string>(const Situation<Node>&)>;

  static constexpr std::size_t most_processes = 6;

  /// `nodes`: the initial states of the processes. Throws std::invalid_argument for more than six.
  Explorer(std::vector<Node> nodes, Promise promise, ExplorationLimits limits)
      : first_(std::move(nodes)), promise_(std::move(promise)), limits_(limits), count_(first_.size()) {
    if (count_ == 0 || count_ > most_processes) throw std::invalid_argument("the explorer takes 1 to 6 processes");
  }

  /// Visits all states, or until the limits are reached or a promise is broken.
  Exploration run() {
    Global begin;
    for (std::size_t p = 0; p < count_; ++p) begin.local[p] = begin_[p] = interned_.number_of(p, first_[p]);
    begin.living = (1U << count_) - 1;
    visit(begin, 0, Event{});
    Exploration found;
    for (std::uint32_t at = 0; at < states_.size() && found.violation.empty(); ++at) {
      const Global state = decode(at);
      bool at_rest = true;
      each_event(state, [&](Event event) {
        if (event.kind != Kind::crash) at_rest = false;
        ++found.steps;
        const std::uint32_t next = visit(apply(state, event), at, event);
        if (limits_.look_for_endless_runs) graph_.add_successor(next);
      });
      if (limits_.look_for_endless_runs) graph_.end_successors();
      if (at_rest) ++found.at_rest;
      if (auto broken = judge(state, at_rest)) {
        found.violation = *broken;
        found.transcript = transcript_to(at);
      } else if (states_.size() > limits_.states) {
        break;
      }
      found.complete = at + 1 == states_.size();
    }
    found.states = states_.size();
    found.local_states = interned_.nodes();
    if (!found.complete || !limits_.look_for_endless_runs) return found;
    if (const auto endless = graph_.find_endless_run()) {
      found.violation = endless_run;
      found.transcript = transcript_to(*endless);
    }
    return found;
  }

 private:
  enum class Kind : std::uint8_t { move, deliver, notice, crash };
  struct Event {
    Kind kind = Kind::move;
    std::uint8_t who = 0;    // the process that the event happens to
    std::uint8_t other = 0;  // the sender, the process noticed dead, or the number of the move
  };

  /// Messages on their way from one process to another, by number, oldest first.
  class Channel {
   public:
    bool empty() const { return size_ == 0; }
    std::uint8_t size() const { return size_; }
    std::uint16_t front() const { return messages_[0]; }
    std::uint16_t operator[](std::size_t i) const { return messages_[i]; }
    void push_back(std::uint16_t message) {
      if (size_ == messages_.size()) throw std::length_error("too many messages in one channel for the explorer");
      messages_[size_++] = message;
    }
    void pop_front() {
      --size_;
      for (std::size_t i = 0; i < size_; ++i) messages_[i] = messages_[i + 1];
    }
    void clear() { size_ = 0; }

   private:
    std::uint8_t size_ = 0;
    std::array<std::uint16_t, 11> messages_;
  };

  struct Global {
    std::array<std::uint32_t, most_processes> local{};
    std::uint32_t living = 0;
    std::array<std::uint8_t, most_processes> noticed{};                       // bit d: d's death has been noticed
    std::array<std::array<Channel, most_processes>, most_processes> channel;  // [from][to]
  };

  struct Step {
    std::uint32_t local;
    std::vector<std::pair<std::uint8_t, std::uint16_t>> sends;  // to, message
  };

  // ---- the possible events and their effects

  template <class Function>
  void each_event(const Global& state, Function function) const {
    const std::uint32_t deaths =
        static_cast<std::uint32_t>(count_) - static_cast<std::uint32_t>(__builtin_popcount(state.living));
    for (std::uint8_t p = 0; p < count_; ++p) {
      if (!(state.living >> p & 1U)) continue;
      const std::size_t moves = interned_.node(state.local[p]).moves();
      for (std::uint8_t m = 0; m < moves; ++m) function(Event{Kind::move, p, m});
      for (std::uint8_t q = 0; q < count_; ++q) {
        if (!state.channel[q][p].empty()) function(Event{Kind::deliver, p, q});
        if (!(state.living >> q & 1U) && !(state.noticed[p] >> q & 1U)) function(Event{Kind::notice, p, q});
      }
      if (deaths < limits_.deaths && deaths + 1 < count_) function(Event{Kind::crash, p, 0});
    }
  }

  Global apply(const Global& state, Event event) {
    Global next = state;
    const std::uint8_t p = event.who;
    if (event.kind == Kind::crash) {
      next.living &= ~(1U << p);
      next.noticed[p] = 0;
      if (!limits_.remember_the_dead) next.local[p] = begin_[p];
      for (std::size_t q = 0; q < count_; ++q) next.channel[q][p].clear();
      for (std::size_t q = 0; q < count_; ++q) overlook_ignored(next, q);
      return next;
    }
    std::uint16_t message = 0;
    if (event.kind == Kind::deliver) {
      auto& channel = next.channel[event.other][p];
      message = channel.front();
      channel.pop_front();
    } else if (event.kind == Kind::notice) {
      next.noticed[p] = static_cast<std::uint8_t>(next.noticed[p] | 1U << event.other);
      next.channel[event.other][p].clear();
    }
    const Step& step = step_of(state.local[p], p, event, message);
    next.local[p] = step.local;
    for (const auto& [to, sent] : step.sends) {
      if (next.living >> to & 1U) next.channel[p][to].push_back(sent);
    }
    overlook_ignored(next, p);
    return next;
  }

  /// Removes what a process ignores, so that states that differ only in that are one state.
  void overlook_ignored(Global& state, std::size_t p) const {
    if (!(state.living >> p & 1U)) return;
    for (std::uint8_t q = 0; q < count_; ++q) {
      if ((state.living >> q & 1U) || !interned_.node(state.local[p]).ignores(ProcessId{q})) continue;
      state.noticed[p] = static_cast<std::uint8_t>(state.noticed[p] | 1U << q);
      state.channel[q][p].clear();
    }
  }

  const Step& step_of(std::uint32_t local, std::uint8_t p, Event event, std::uint16_t message) {
    const std::uint64_t key = std::uint64_t{local} << 32U | std::uint64_t{message} << 16U |
                              std::uint64_t{event.other} << 8U | static_cast<std::uint64_t>(event.kind);
    if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
    Node node = interned_.node(local);
    Outbox<Message> outbox;
    perform(node, event, event.kind == Kind::deliver ? &interned_.message(message) : nullptr, outbox);
    Step step;
    step.local = interned_.number_of(p, node);
    for (const auto& [to, sent] : outbox.sends) {
      step.sends.emplace_back(static_cast<std::uint8_t>(to.value), interned_.number_of(sent));
    }
    return steps_.emplace(key, std::move(step)).first->second;
  }

  static void perform(Node& node, Event event, const Message* message, Outbox<Message>& outbox) {
    switch (event.kind) {
      case Kind::move: return node.move(event.other, outbox);
      case Kind::deliver: return node.receive(ProcessId{event.other}, *message, outbox);
      case Kind::notice: return node.dead(ProcessId{event.other}, outbox);
      case Kind::crash: return;
    }
  }

  std::optional<std::string> judge(const Global& state, bool at_rest) const {
    std::array<const Node*, most_processes> nodes{};
    for (std::size_t p = 0; p < count_; ++p) nodes[p] = &interned_.node(state.local[p]);
    return promise_({{nodes.data(), count_}, state.living, at_rest});
  }

  // ---- each global state is stored once, as bytes

  void encode(const Global& state, std::vector<std::uint8_t>& bytes) const {
    bytes.clear();
    bytes.push_back(static_cast<std::uint8_t>(state.living));
    for (std::size_t p = 0; p < count_; ++p) {
      for (unsigned shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<std::uint8_t>(state.local[p] >> shift));
      }
      bytes.push_back(state.noticed[p]);
      for (std::size_t q = 0; q < count_; ++q) {
        if (q == p) continue;
        const auto& channel = state.channel[p][q];
        bytes.push_back(channel.size());
        for (std::size_t i = 0; i < channel.size(); ++i) {
          bytes.push_back(static_cast<std::uint8_t>(channel[i]));
          bytes.push_back(static_cast<std::uint8_t>(channel[i] >> 8U));
        }
      }
    }
  }

  Global decode(std::uint32_t index) const {
    const std::uint8_t* at = states_[index].data();
    Global state;
    state.living = *at++;
    for (std::size_t p = 0; p < count_; ++p) {
      for (unsigned shift = 0; shift < 32; shift += 8) state.local[p] |= std::uint32_t{*at++} << shift;
      state.noticed[p] = *at++;
      for (std::size_t q = 0; q < count_; ++q) {
        if (q == p) continue;
        auto& channel = state.channel[p][q];
        for (unsigned left = *at++; left > 0; --left, at += 2) {
          channel.push_back(static_cast<std::uint16_t>(at[0] | at[1] << 8));
        }
      }
    }
    return state;
  }

  /// Returns the number of the state, which is new if the state was not known.
  std::uint32_t visit(const Global& state, std::uint32_t parent, Event event) {
    encode(state, scratch_);
    const auto [index, fresh] = states_.insert(scratch_);
    if (fresh) graph_.add(parent, event);
    return index;
  }

  // ---- the transcript of a run

  std::string transcript_to(std::uint32_t index) {
    std::string text;
    Global state = decode(0);
    for (const Event event : graph_.run_to(index)) {
      text += tell(state, event);
      state = apply(state, event);
    }
    for (std::size_t p = 0; p < count_; ++p) {
      text += "  in the end " + std::to_string(p) + (state.living >> p & 1U ? " lives" : " is dead") +
              interned_.node(state.local[p]).describe() + "\n";
    }
    return text;
  }

  std::string tell(const Global& state, Event event) {
    const Node& node = interned_.node(state.local[event.who]);
    const std::string who = std::to_string(event.who);
    std::string line;
    std::uint16_t message = 0;
    switch (event.kind) {
      case Kind::move: line = who + " " + node.describe_move(event.other); break;
      case Kind::deliver:
        message = state.channel[event.other][event.who].front();
        line = who + " receives " + Node::describe(interned_.message(message)) + " from " + std::to_string(event.other);
        break;
      case Kind::notice: line = who + " notices that " + std::to_string(event.other) + " is dead"; break;
      case Kind::crash: return "  " + who + " dies\n";
    }
    const Step step = step_of(state.local[event.who], event.who, event, message);
    for (const auto& [to, sent] : step.sends) {
      line += "; sends " + Node::describe(interned_.message(sent)) + " to " + std::to_string(to);
    }
    const std::string before = interned_.node(state.local[event.who]).describe();
    const std::string after = interned_.node(step.local).describe();
    if (after != before) line += "; now" + after;
    return "  " + line + "\n";
  }

  std::vector<Node> first_;
  Promise promise_;
  ExplorationLimits limits_;
  std::size_t count_;
  std::array<std::uint32_t, most_processes> begin_{};  // the initial local states

  Interned<Node> interned_;
  std::unordered_map<std::uint64_t, Step> steps_;

  StateArena states_;
  StateGraph<Event> graph_;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace mend::transport
