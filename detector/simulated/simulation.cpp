#include "detector/simulated/simulation.hpp"

#include "detector/wire.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend::detector {
namespace {

transport::NetworkModel without_notices(transport::NetworkModel network) {
  network.tells_of_deaths = false;
  return network;
}

}  // namespace

RingSimulation::RingSimulation(const SimulationOptions& options)
    : options_(options),
      simulator_(options.processes, without_notices(options.network), options.seed, *this),
      armed_(options.processes, Time::max()) {
  const Membership first{{0}, options.processes - options.joining, {}};
  rings_.reserve(options.processes);
  for (std::uint32_t p = 0; p < options.processes; ++p) {
    rings_.emplace_back(ProcessId{p}, options.timing);
    const auto spread = static_cast<std::uint64_t>(options.stagger.count()) + 1;
    if (first.includes({p}))
      enter({p}, first, Time{static_cast<std::int64_t>(transport::scramble(options.seed, p, 7) % spread)});
  }
}

void RingSimulation::kill(ProcessId process, Time at) {
  if (!deaths_.emplace(process, at).second) return;
  simulator_.kill(process, at);
  tell(at, process, "dies");
}

void RingSimulation::witness(ProcessId told, ProcessId dead, Time at) {
  plan(told, at,
       [=](Ring& ring, Time now, Actions& actions) { ring.witness(ProcessSet{dead}, Told::nobody, now, actions); });
}

void RingSimulation::enter(ProcessId process, const Membership& membership, Time at) {
  plan(process, at, [=](Ring& ring, Time now, Actions& actions) { ring.enter(membership, now, actions); });
}

void RingSimulation::run(Time end) { simulator_.run(end); }

Time RingSimulation::first_death() const {
  return std::min_element(deaths_.begin(), deaths_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

Time RingSimulation::known_by_all(ProcessId dead) const {
  const auto learnt = learnt_.find(dead);
  if (learnt == learnt_.end()) return Time::max();
  Time last{0};
  for (std::uint32_t p = 0; p < options_.processes; ++p) {
    if (lives({p})) last = std::max(last, learnt->second[p]);
  }
  return last;
}

ByteCount RingSimulation::size_of(const Message& message) const { return wire_size(message); }

// ---- events of the rings

void RingSimulation::plan(ProcessId process, Time at, Step step) {
  planned_[process].push_back({at, std::move(step)});
  simulator_.wake(process, at);
}

void RingSimulation::receive(ProcessId to, ProcessId from, const Message& message) {
  std::string what;
  if (options_.keep_transcript && message.kind != Message::Kind::heartbeat) {
    what = fmt::format("receives {} from {}", to_string(message), from.value);
  }
  take(to, what, [&](Ring& ring, Time now, Actions& actions) { ring.receive(from, message, now, actions); });
}

void RingSimulation::dead(ProcessId, ProcessId) {}  // the simulator reports no deaths

void RingSimulation::wake(ProcessId process) {
  const Time now = simulator_.now(process);
  if (const auto plans = planned_.find(process); plans != planned_.end()) {
    const auto due = std::stable_partition(plans->second.begin(), plans->second.end(),
                                           [&](const Planned& planned) { return planned.at > now; });
    const std::vector<Planned> steps(due, plans->second.end());
    plans->second.erase(due, plans->second.end());
    if (plans->second.empty()) planned_.erase(plans);
    for (const Planned& planned : steps) take(process, "", planned.step);
  }
  if (armed_[process.value] <= now) armed_[process.value] = Time::max();
  const auto deadline = rings_[process.value].next_deadline();
  if (deadline && *deadline <= now) {
    take(process, "", [](Ring& ring, Time at, Actions& actions) {
      ring.tick(at, actions);
      if (!actions.suspected.empty()) ring.witness(actions.suspected, Told::nobody, at, actions);
    });
  } else {
    arm(process);
  }
}

void RingSimulation::take(ProcessId process, const std::string& what, const Step& step) {
  const Time now = simulator_.now(process);
  Ring& ring = rings_[process.value];
  const auto neighbours = std::pair(ring.emitter(), ring.observer());
  actions_.clear();
  step(ring, now, actions_);
  const bool moved = neighbours != std::pair(ring.emitter(), ring.observer());
  const bool news = !actions_.died.empty();
  if (options_.keep_transcript && (!what.empty() || moved || news || actions_.fenced)) {
    tell(
        now, process,
        fmt::format("{}{}{}{}", what, news ? fmt::format(": {} dead", actions_.died.to_string()) : "",
                    moved ? fmt::format(": observes {}, emits to {}", ring.emitter().value, ring.observer().value) : "",
                    actions_.fenced ? ": is fenced" : ""));
  }
  for (ProcessId gone : actions_.died.members()) {
    auto& learnt = learnt_[gone];
    learnt.resize(options_.processes, Time::max());
    learnt[process.value] = now;
  }
  if ((moved || news) && lives(process)) last_change_ = std::max(last_change_, now);
  const bool suspects = actions_.sends.size() > 1 && actions_.sends.front().message.kind == Message::Kind::new_observer;
  for (Actions::Send& send : actions_.sends) {
    if (send.message.kind == Message::Kind::heartbeat) ++heartbeats_;
    simulator_.send(process, send.to, std::move(send.message));
  }
  if (suspects) strike(process, now);
  arm(process);
}

/// Kills, by chance, a process that has begun to announce a death, at a moment between `before` (its sends) and now.
void RingSimulation::strike(ProcessId process, Time before) {
  if (deaths_.size() >= options_.most_deaths) return;
  const std::uint64_t chance = transport::scramble(options_.seed, process.value, 8 + deaths_.size());
  if (chance % 100 >= options_.fatal_suspicions) return;
  const auto span = static_cast<std::uint64_t>((simulator_.now(process) - before).count()) + 1;
  kill(process, before + Time{static_cast<std::int64_t>(chance / 100 % span)});
}

void RingSimulation::arm(ProcessId process) {
  const auto deadline = rings_[process.value].next_deadline();
  if (!deadline || *deadline >= armed_[process.value]) return;
  armed_[process.value] = *deadline;
  simulator_.wake(process, *deadline);
}

// ---- results

void RingSimulation::tell(Time at, ProcessId process, const std::string& what) {
  if (!options_.keep_transcript) return;
  if (const auto death = deaths_.find(process); death != deaths_.end() && at > death->second) return;
  const auto time = std::chrono::duration<double, std::micro>(at);
  told_.emplace_back(at, fmt::format("{:10.3f} us  {} {}\n", time.count(), process.value,
                                     what.starts_with(": ") ? what.substr(2) : what));
}

std::string RingSimulation::transcript() const {
  auto lines = told_;
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [at, line] : lines) text += line;
  return text;
}

std::uint32_t RingSimulation::closest_living(std::uint32_t process, std::uint32_t step) const {
  do {
    process = (process + step) % options_.processes;
  } while (!lives({process}));
  return process;
}

std::optional<std::string> RingSimulation::verdict() const {
  for (std::uint32_t p = 0; p < options_.processes; ++p) {
    if (!lives({p})) continue;
    const Ring& ring = rings_[p];
    if (ring.fenced()) return fmt::format("Accuracy: {} lives and is told to stop", p);
    for (ProcessId held_dead : ring.known_dead().members()) {
      if (lives(held_dead)) return fmt::format("Accuracy: {} holds {} dead, which lives", p, held_dead.value);
    }
    for (const auto& [gone, at] : deaths_) {
      if (!ring.known_dead().contains(gone)) return fmt::format("Completeness: {} does not know of {}", p, gone.value);
    }
    const std::uint32_t before = closest_living(p, options_.processes - 1);
    if (ring.emitter().value != before) return fmt::format("{} observes {}, not {}", p, ring.emitter().value, before);
    const std::uint32_t after = closest_living(p, 1);
    if (after != p && ring.observer().value != after) {
      return fmt::format("{} emits to {}, not {}", p, ring.observer().value, after);
    }
  }
  return std::nullopt;
}

}  // namespace mend::detector
