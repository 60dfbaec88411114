// The timed explorer: every possible run of a small system in which messages take no longer than allowed.
//
// A failure detector depends on time: a process that is silent for long enough is dead. So here time passes in ticks.
// Beside the local states and the messages under way (transport/simulated/explorer.hpp), a state holds the age of each
// message. In every tick each living process takes its turn, in the order of their numbers. It is told that a tick has
// passed, and then, in any order and number,
//   - a message that was sent in an earlier tick is delivered. A message takes 1 to `patience` ticks, chosen freely;
//     once its age has reached its patience it must be delivered. Messages of one sender may overtake each other;
//   - another witness tells it of a death that it does not know, while the limit of witnesses is not reached;
//   - its caller makes one of the moves that it may make;
//   - it dies, while the limit of deaths is not reached: some of the messages it has sent in this turn are still sent,
//     in order, the rest never.
// A message never arrives in the tick in which it is sent. So the steps of the processes in one tick do not depend on
// each other, and one order of the turns represents all.
//
// Two things are checked in every state: the promise, which must always hold, and whether the system is settled. The
// time for which it has not been settled, in ticks, is part of the state, so a promise can say "within T".

#pragma once

#include "transport/simulated/explorer.hpp"

#include <algorithm>

namespace mend::transport {

/// One process of the explored system, with its own clock. The description of a message is empty if transcripts should
/// not show it.
template <class Node>
concept TimedExplorable = ExploredProcess<Node> &&
    requires(Node node, const Node& seen, ProcessId process, const typename Node::Message& message,
             Outbox<typename Node::Message>& outbox) {
  node.tick(outbox);
  /// True if it makes no difference, now or later, that `message` comes from `process`.
  { seen.ignores(process, message) } -> std::convertible_to<bool>;
  { seen.knows_dead(process) } -> std::convertible_to<bool>;
};

template <class Node>
struct TimedSituation {
  std::span<const Node* const> nodes;
  std::uint32_t living;         ///< bit p: process p lives
  std::uint32_t unsettled_for;  ///< ticks
  bool lives(std::size_t process) const { return (living >> process & 1U) != 0; }
};

struct TimedExploration : Exploration {
  std::uint32_t longest_unsettled = 0;  ///< ticks, in any run
};

struct TimedLimits {
  std::uint32_t deaths = 0;           ///< how many processes may die
  std::uint32_t witnesses = 0;        ///< how many times a process may be told of a death by another witness
  std::uint64_t states = 20'000'000;  ///< give up beyond this many
};

template <TimedExplorable Node>
class TimedExplorer {
 public:
  using Message = typename Node::Message;
  /// Returns the broken promise in a situation, if there is one.
  using Promise = std::function<std::optional<std::string>(const TimedSituation<Node>&)>;
  using Settled = std::function<bool(const TimedSituation<Node>&)>;
  /// How many ticks a message may take, at least 1.
  using Patience = std::function<std::uint8_t(const Message&)>;

  static constexpr std::size_t most_processes = 8;

  /// `nodes`: the initial states of the processes. Throws std::invalid_argument for more than eight.
  TimedExplorer(std::vector<Node> nodes, Promise promise, Settled settled, Patience patience, TimedLimits limits)
      : first_(std::move(nodes)),
        promise_(std::move(promise)),
        settled_(std::move(settled)),
        patience_(std::move(patience)),
        limits_(limits),
        count_(first_.size()) {
    if (count_ == 0 || count_ > most_processes)
      throw std::invalid_argument("the timed explorer takes 1 to 8 processes");
  }

  /// Visits all states, or until the limits are reached or a promise is broken.
  TimedExploration run() {
    Global begin;
    for (std::size_t p = 0; p < count_; ++p) begin.local[p] = begin_[p] = interned_.number_of(p, first_[p]);
    begin.living = (1U << count_) - 1;
    take_step(begin, {Kind::tick, 0});
    visit(begin, 0, {});
    TimedExploration found;
    for (std::uint32_t at = 0; at < states_.size(); ++at) {
      const Global state = decode(at);
      found.longest_unsettled = std::max(found.longest_unsettled, state.unsettled);
      if (auto broken = promise_(situation(state))) {
        found.violation = *broken;
        found.transcript = transcript_to(at);
        break;
      }
      if (states_.size() > limits_.states) break;
      for (Event event : events_of(state)) {
        ++found.steps;
        visit(apply(state, event), at, event);
      }
      found.complete = at + 1 == states_.size();
    }
    found.states = states_.size();
    found.local_states = interned_.nodes();
    return found;
  }

 private:
  enum class Kind : std::uint8_t { tick, deliver, notice, move, crash, end_turn };
  struct Event {
    Kind kind = Kind::tick;
    std::uint8_t which = 0;  // the letter, the process noticed dead, the move, or how many messages are still sent
  };

  struct Letter {
    std::uint8_t from;
    std::uint8_t to;
    std::uint8_t age;
    std::uint16_t message;
    auto operator<=>(const Letter&) const = default;
  };

  struct Global {
    std::array<std::uint32_t, most_processes> local{};
    std::uint32_t living = 0;
    std::uint32_t unsettled = 0;
    std::uint32_t told = 0;  // how many reports of witnesses there have been
    std::uint8_t turn = 0;
    std::vector<Letter> letters;  // sorted, except those of this turn, which are at the end in the order of sending
    bool lives(std::size_t p) const { return (living >> p & 1U) != 0; }
  };

  struct Step {
    std::uint32_t local;
    std::vector<std::pair<std::uint8_t, std::uint16_t>> sends;  // to, message
  };

  // ---- the possible events and their effects

  std::vector<Event> events_of(const Global& state) const {
    std::vector<Event> events;
    const Node& node = interned_.node(state.local[state.turn]);
    bool may_end = true;
    std::uint8_t sent = 0;
    for (std::uint8_t i = 0; i < state.letters.size(); ++i) {
      const Letter& letter = state.letters[i];
      if (is_of_this_turn(state, letter)) ++sent;
      if (letter.to != state.turn || letter.age == 0) continue;
      if (letter.age >= patience_of_[letter.message]) may_end = false;
      const bool same = i > 0 && state.letters[i - 1U] == letter;
      if (!same) events.push_back({Kind::deliver, i});
    }
    for (std::uint8_t q = 0; state.told < limits_.witnesses && q < count_; ++q) {
      if (!state.lives(q) && !node.knows_dead(ProcessId{q})) events.push_back({Kind::notice, q});
    }
    const std::size_t moves = node.moves();
    for (std::uint8_t m = 0; m < moves; ++m) events.push_back({Kind::move, m});
    const auto deaths = count_ - static_cast<std::size_t>(__builtin_popcount(state.living));
    if (deaths < limits_.deaths && deaths + 1 < count_) {
      for (std::uint8_t kept = 0; kept <= sent; ++kept) events.push_back({Kind::crash, kept});
    }
    if (may_end) events.push_back({Kind::end_turn, 0});
    return events;
  }

  static bool is_of_this_turn(const Global& state, const Letter& letter) {
    return letter.from == state.turn && letter.age == 0;
  }

  Global apply(const Global& state, Event event) {
    Global next = state;
    if (event.kind == Kind::crash) {
      die(next, event.which);
      end_turn(next);
    } else if (event.kind == Kind::end_turn) {
      end_turn(next);
    } else {
      take_step(next, event);
    }
    return next;
  }

  /// The process whose turn it is takes the step; `state` becomes the state after it.
  void take_step(Global& state, Event event) {
    Letter letter{};
    if (event.kind == Kind::deliver) {
      letter = state.letters[event.which];
      state.letters.erase(state.letters.begin() + event.which);
    }
    if (event.kind == Kind::notice) ++state.told;
    const Step& step = step_of(state.local[state.turn], state.turn, event, letter);
    state.local[state.turn] = step.local;
    const Node& node = interned_.node(step.local);
    std::erase_if(state.letters, [&](const Letter& waiting) {
      return waiting.to == state.turn && node.ignores(ProcessId{waiting.from}, interned_.message(waiting.message));
    });
    for (const auto& [to, message] : step.sends) {
      if (!state.lives(to) ||
          interned_.node(state.local[to]).ignores(ProcessId{state.turn}, interned_.message(message)))
        continue;
      state.letters.push_back({state.turn, to, 0, message});
    }
    if (state.letters.size() > 0xff) throw std::length_error("too many messages under way for the timed explorer");
  }

  void die(Global& state, std::uint8_t kept) {
    state.living &= ~(1U << state.turn);
    state.local[state.turn] = begin_[state.turn];
    std::erase_if(state.letters, [&](const Letter& letter) {
      if (letter.to == state.turn) return true;
      if (!is_of_this_turn(state, letter)) return false;
      if (kept == 0) return true;
      --kept;
      return false;
    });
  }

  void end_turn(Global& state) {
    do {
      ++state.turn;
      if (state.turn == count_) end_tick(state);
    } while (!state.lives(state.turn));
    std::sort(state.letters.begin(), state.letters.end());
    take_step(state, {Kind::tick, 0});
  }

  void end_tick(Global& state) {
    state.turn = 0;
    for (Letter& letter : state.letters) ++letter.age;
    state.unsettled = settled_(situation(state)) ? 0 : std::min(state.unsettled + 1, 0xffffU);
  }

  const Step& step_of(std::uint32_t local, std::uint8_t p, Event event, const Letter& letter) {
    const std::uint8_t other = event.kind == Kind::deliver ? letter.from : event.which;
    const std::uint64_t key = std::uint64_t{local} << 32U | std::uint64_t{letter.message} << 16U |
                              std::uint64_t{other} << 8U | static_cast<std::uint64_t>(event.kind);
    if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
    Node node = interned_.node(local);
    Outbox<Message> outbox;
    switch (event.kind) {
      case Kind::tick: node.tick(outbox); break;
      case Kind::deliver: node.receive(ProcessId{other}, interned_.message(letter.message), outbox); break;
      case Kind::notice: node.dead(ProcessId{other}, outbox); break;
      case Kind::move: node.move(other, outbox); break;
      default: break;
    }
    Step step;
    step.local = interned_.number_of(p, node);
    for (const auto& [to, sent] : outbox.sends) {
      step.sends.emplace_back(static_cast<std::uint8_t>(to.value), number_of(sent));
    }
    return steps_.emplace(key, std::move(step)).first->second;
  }

  TimedSituation<Node> situation(const Global& state) const {
    for (std::size_t p = 0; p < count_; ++p) seen_[p] = &interned_.node(state.local[p]);
    return {{seen_.data(), count_}, state.living, state.unsettled};
  }

  std::uint16_t number_of(const Message& message) {
    const std::uint16_t number = interned_.number_of(message);
    if (number == patience_of_.size()) patience_of_.push_back(patience_(message));
    return number;
  }

  // ---- each global state is stored once, as bytes

  std::uint32_t visit(const Global& state, std::uint32_t parent, Event event) {
    scratch_.clear();
    const auto put = [&](std::uint32_t value, unsigned bytes) {
      for (unsigned shift = 0; shift < 8 * bytes; shift += 8)
        scratch_.push_back(static_cast<std::uint8_t>(value >> shift));
    };
    put(state.living, 1);
    put(state.unsettled, 2);
    put(state.told, 1);
    put(state.turn, 1);
    for (std::size_t p = 0; p < count_; ++p) put(state.local[p], 4);
    for (const Letter& letter : state.letters) {
      put(static_cast<std::uint32_t>(letter.from << 4U | letter.to), 1);
      put(letter.age, 1);
      put(letter.message, 2);
    }
    const auto [index, fresh] = states_.insert(scratch_);
    if (fresh) graph_.add(parent, event);
    return index;
  }

  Global decode(std::uint32_t index) const {
    const auto bytes = states_[index];
    std::size_t at = 0;
    const auto take = [&](unsigned count) {
      std::uint32_t value = 0;
      for (unsigned shift = 0; shift < 8 * count; shift += 8) value |= std::uint32_t{bytes[at++]} << shift;
      return value;
    };
    Global state;
    state.living = take(1);
    state.unsettled = take(2);
    state.told = take(1);
    state.turn = static_cast<std::uint8_t>(take(1));
    for (std::size_t p = 0; p < count_; ++p) state.local[p] = take(4);
    while (at < bytes.size()) {
      const std::uint32_t ends = take(1);
      const std::uint32_t age = take(1);
      state.letters.push_back({static_cast<std::uint8_t>(ends >> 4U), static_cast<std::uint8_t>(ends & 15U),
                               static_cast<std::uint8_t>(age), static_cast<std::uint16_t>(take(2))});
    }
    return state;
  }

  // ---- the transcript of a run

  std::string transcript_to(std::uint32_t index) {
    std::string text;
    std::size_t tick = 0;
    Global state = decode(0);
    for (const Event event : graph_.run_to(index)) {
      const Global next = apply(state, event);
      const std::string line = tell(state, event, next);
      if (!line.empty()) text += "  tick " + std::to_string(tick) + ": " + line + "\n";
      const bool turn_ended = event.kind == Kind::end_turn || event.kind == Kind::crash;
      if (turn_ended && next.turn <= state.turn) ++tick;
      if (turn_ended) {
        const std::string told = tell_step(state, next, next.turn, "");
        if (!told.empty()) text += "  tick " + std::to_string(tick) + ": " + told + "\n";
      }
      state = next;
    }
    for (std::size_t p = 0; p < count_; ++p) {
      text += "  in the end " + std::to_string(p) + (state.lives(p) ? " lives" : " is dead") +
              (state.lives(p) ? interned_.node(state.local[p]).describe() : "") + "\n";
    }
    return text;
  }

  std::string tell(const Global& state, Event event, const Global& next) {
    const Letter letter = event.kind == Kind::deliver ? state.letters[event.which] : Letter{};
    std::string what;
    switch (event.kind) {
      case Kind::deliver:
        what = Node::describe(interned_.message(letter.message));
        if (!what.empty()) what = " receives " + what + " from " + std::to_string(letter.from);
        break;
      case Kind::notice: what = " is told that " + std::to_string(event.which) + " is dead"; break;
      case Kind::move: what = " " + interned_.node(state.local[state.turn]).describe_move(event.which); break;
      case Kind::crash: return std::to_string(state.turn) + tell_death(state, event.which);
      default: return "";
    }
    return tell_step(state, next, state.turn, what);
  }

  static std::string tell_death(const Global& state, std::uint8_t kept) {
    const auto sent = std::count_if(state.letters.begin(), state.letters.end(),
                                    [&](const Letter& letter) { return is_of_this_turn(state, letter); });
    if (kept == sent) return " dies";
    return " dies; of its " + std::to_string(sent) + " messages of this tick, " + std::to_string(kept) + " are sent";
  }

  /// Returns the description of what `who` did and sent between two states; empty if there is nothing to show.
  std::string tell_step(const Global& state, const Global& next, std::uint8_t who, const std::string& what) {
    std::string line = what;
    const std::size_t known = state.turn == who ? sent_by(state, who) : 0;
    std::size_t seen = 0;
    for (const Letter& letter : next.letters) {
      if (letter.from != who || letter.age != 0 || seen++ < known) continue;
      const std::string sent = Node::describe(interned_.message(letter.message));
      if (!sent.empty()) line += "; sends " + sent + " to " + std::to_string(letter.to);
    }
    const std::string before = interned_.node(state.local[who]).describe();
    const std::string after = interned_.node(next.local[who]).describe();
    if (after != before) line += "; now" + after;
    if (line.empty()) return line;
    return std::to_string(who) + (what.empty() ? " looks at the time" : "") + line;
  }

  static std::size_t sent_by(const Global& state, std::uint8_t who) {
    return static_cast<std::size_t>(
        std::count_if(state.letters.begin(), state.letters.end(),
                      [&](const Letter& letter) { return letter.from == who && letter.age == 0; }));
  }

  std::vector<Node> first_;
  Promise promise_;
  Settled settled_;
  Patience patience_;
  TimedLimits limits_;
  std::size_t count_;
  std::array<std::uint32_t, most_processes> begin_{};  // the initial local states
  mutable std::array<const Node*, most_processes> seen_{};

  Interned<Node> interned_;
  std::vector<std::uint8_t> patience_of_;
  std::unordered_map<std::uint64_t, Step> steps_;

  StateArena states_;
  StateGraph<Event> graph_;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace mend::transport
