#include "framework/recovery/simulated/simulation.hpp"

#include "agreement/wire.hpp"
#include "base/error.hpp"
#include "detector/wire.hpp"
#include "framework/recovery/simulated/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace mend::recovery {
namespace {

constexpr ByteCount group_header = 8;
constexpr ByteCount note_header = 16;

/// The time after which the simulated job must be over.
constexpr SimulatedTime longest = std::chrono::minutes(10);
constexpr SimulatedTime slice = std::chrono::milliseconds(20);

transport::NetworkModel without_notices(transport::NetworkModel network) {
  network.tells_of_deaths = false;
  return network;
}

Phase phase_in(State state, bool first_epoch) {
  switch (state) {
    case State::balloting: return Phase::ballot;
    case State::deciding:
    case State::closing: return Phase::decide;
    case State::settling: return Phase::settle;
    case State::shrinking: return Phase::shrink;
    case State::counting: return Phase::count;
    case State::splitting: return Phase::split;
    case State::confirming: return Phase::confirm;
    case State::finding:
    case State::announcing: return Phase::start;
    case State::gathering:
    case State::gathered: return Phase::meet;
    case State::connecting:
    case State::connected: return Phase::connect;
    case State::merging:
    case State::merged: return Phase::merge;
    case State::admitting: return Phase::admit;
    case State::playing:
    case State::saving: return first_epoch ? Phase::over : Phase::restore;
    default: return Phase::over;
  }
}

}  // namespace

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::detect: return "detect";
    case Phase::interrupt: return "interrupt";
    case Phase::ballot: return "ballot";
    case Phase::decide: return "job decision";
    case Phase::settle: return "settle";
    case Phase::shrink: return "shrink";
    case Phase::count: return "agree: shrunk";
    case Phase::split: return "split";
    case Phase::confirm: return "agree: split";
    case Phase::start: return "start process";
    case Phase::meet: return "meet newcomer";
    case Phase::connect: return "connect";
    case Phase::merge: return "greet, merge";
    case Phase::admit: return "admit";
    case Phase::restore: return "restore: tell";
    case Phase::data: return "restore: data";
    case Phase::over: return "over";
  }
  return "?";
}

RecoverySimulation::RecoverySimulation(const SimulationOptions& options) : options_(options) {
  const auto total = static_cast<std::uint32_t>(options.ranks + options.spares);
  if (options.failures + (options.another_after ? 1 : 0) >= options.ranks) {
    throw UsageError(
        fmt::format("{} of {} ranks cannot die at once: one must be left", options.failures, options.ranks));
  }
  options.redundancy.require_ranks(options.ranks);
  const std::uint32_t most = total + 4U * static_cast<std::uint32_t>(options.failures + 1);
  hand_ = ProcessId{most};
  simulator_ = std::make_unique<transport::Simulator<Message, RecoverySimulation>>(
      most + 1, without_notices(options.network), options.seed, *this);
  for (std::uint32_t p = 0; p < most; ++p) processes_.push_back(std::make_unique<Process>());
  launch();
}

RecoverySimulation::~RecoverySimulation() = default;

bool RecoverySimulation::lives(ProcessId process) const { return simulator_->lives(process); }

/// Runs the job until all processes are in the body or parked.
void RecoverySimulation::launch() {
  std::vector<ProcessId> launched;
  std::vector<Placed> introduced;
  for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(options_.ranks + options_.spares); ++p) {
    launched.push_back(ProcessId{p});
    introduced.push_back({ProcessId{p}, NodeId{p / options_.network.processes_per_node}});
  }
  const CommId world = comms_.make(launched);
  for (const ProcessId process : launched) {
    Process& one = at(process);
    one.core.emplace(Setup{process, options_.policy, 10, false, {}}, launched, introduced, options_.ranks);
    one.detector.emplace(process, options_.timing);
    one.base = world;
    one.wait = Process::Wait::nothing;
    simulator_->wake(process, SimulatedTime{0});
  }
  SimulatedTime until{0};
  while (!all_is_over() && until < longest) simulator_->run(until += slice);
  if (!all_is_over()) throw EnvironmentError("the simulated job does not begin: report this as a mistake in mend");
  with_data_ = at(launched.front()).core->position().roster;
}

void RecoverySimulation::run() {
  const Roster& roster = with_data_;
  // A death comes at some moment between two heartbeats, when the ring has long been quiet.
  const auto quiet = options_.finding == Finding::silence ? 3 * options_.timing.delta : options_.timing.eta;
  const auto chance = transport::scramble(options_.seed, 1, 17);
  died_at_ = simulator_->clock() + quiet +
             SimulatedTime{static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(options_.timing.eta.count()))};
  const auto first = transport::scramble(options_.seed, 2, 17) % static_cast<std::uint64_t>(options_.ranks);
  for (int i = 0; i < options_.failures; ++i) {
    const int rank =
        static_cast<int>((first + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(options_.ranks) /
                                      static_cast<std::uint64_t>(options_.failures)) %
                         static_cast<std::uint64_t>(options_.ranks));
    victims_.push_back(roster.seat(Rank{rank}).holder.process);
  }
  for (const ProcessId victim : victims_) simulator_->kill(victim, died_at_);
  last_death_ = died_at_ + options_.another_after.value_or(SimulatedTime{0});
  if (options_.another_after) {
    const auto lives_on = [&](const Seat& seat) {
      return lives(seat.holder.process) && std::ranges::find(victims_, seat.holder.process) == victims_.end();
    };
    std::vector<ProcessId> others;
    for (const Seat& seat : roster.seats)
      if (lives_on(seat)) others.push_back(seat.holder.process);
    victims_.push_back(others[transport::scramble(options_.seed, 3, 17) % others.size()]);
    simulator_->kill(victims_.back(), last_death_);
  }
  simulator_->wake(hand_, died_at_);
  SimulatedTime until = died_at_;
  do {
    simulator_->run(until += slice);
  } while (!all_is_over() && !was_cut_off_ && until < died_at_ + longest);
}

/// Begins the counts at the deaths. The process that observes a dead process is told, if the kernel tells.
void RecoverySimulation::strike() {
  struck_ = true;
  const auto count = static_cast<std::uint32_t>(options_.ranks + options_.spares);
  for (std::uint32_t p = 0; p < count; ++p) {
    Process& one = *processes_[p];
    one.is_survivor = one.core->rank().has_value();
    one.phase = Phase::detect;
    one.since = died_at_;
    one.depth = one.depth_at = 0;
    one.done.reset();
  }
  if (options_.finding == Finding::silence) return;
  const auto will_die = [&](ProcessId process) { return std::ranges::find(victims_, process) != victims_.end(); };
  for (std::size_t i = 0; i < victims_.size(); ++i) {
    ProcessId observer{(victims_[i].value + 1) % count};
    while (will_die(observer)) observer = ProcessId{(observer.value + 1) % count};
    const bool is_another = i == static_cast<std::size_t>(options_.failures);
    const SimulatedTime when = (is_another ? last_death_ : died_at_) + options_.told_after;
    at(observer).told.emplace_back(when, victims_[i]);
    simulator_->wake(observer, when);
  }
}

// --- messages and accounts -----------------------------------------------------------------------------------------

ByteCount RecoverySimulation::size_of(const Message& message) const {
  if (const auto* note = std::get_if<Note>(&message.what)) return note_header + note->bytes;
  if (const auto* agreeing = std::get_if<Agreeing>(&message.what)) {
    return group_header + agreement::wire_size(agreeing->message);
  }
  return detector::wire_size(std::get<detector::Message>(message.what));
}

Phase RecoverySimulation::phase_of(ProcessId process) const { return at(process).phase; }

void RecoverySimulation::send(ProcessId from, ProcessId to, Message message, Phase phase) {
  Process& sender = at(from);
  message.depth = sender.depth + 1;
  if (struck_) {
    ++sender.messages[static_cast<std::size_t>(phase)];
    sender.bytes[static_cast<std::size_t>(phase)] += size_of(message);
  }
  simulator_->send(from, to, std::move(message));
}

void RecoverySimulation::enter_phase(ProcessId process, Phase phase) {
  Process& one = at(process);
  if (one.phase == phase) return;
  const auto before = static_cast<std::size_t>(one.phase);
  one.times[before] += now(process) - one.since;
  one.rounds[before] += one.depth - one.depth_at;
  one.phase = phase;
  one.since = now(process);
  one.depth_at = one.depth;
  if (phase == Phase::over) one.done = now(process);
}

bool RecoverySimulation::all_is_over() const {
  if (simulator_->clock() < last_death_) return false;
  for (std::uint32_t p = 0; p < processes_.size(); ++p) {
    const Process& one = *processes_[p];
    if (!lives({p}) || !one.core) continue;
    if (one.core->state() == State::ended) continue;
    const bool rests = one.wait == Process::Wait::body || one.wait == Process::Wait::parked;
    const bool is_over = rests && (!struck_ || one.phase == Phase::over);
    if (!is_over) return false;
    const bool has_dead =
        std::ranges::any_of(victims_, [&](ProcessId gone) { return struck_ && comms_[one.base].has(gone); });
    if (has_dead) return false;
  }
  return true;
}

// --- the simulator's side ------------------------------------------------------------------------------------------

void RecoverySimulation::receive(ProcessId to, ProcessId from, const Message& message) {
  Process& one = at(to);
  const auto* detection = std::get_if<detector::Message>(&message.what);
  const bool is_heartbeat = detection != nullptr && detection->kind == detector::Message::Kind::heartbeat;
  if (struck_ && !is_heartbeat) one.depth = std::max(one.depth, message.depth);
  if (detection != nullptr) {
    if (!one.detector) return;
    detector::Actions actions;
    one.detector->receive(from, *detection, now(to), actions);
    take(to, actions);
  } else if (const auto* agreeing = std::get_if<Agreeing>(&message.what)) {
    deliver(to, from, *agreeing);
  } else {
    take_note(to, from, std::get<Note>(message.what));
  }
}

void RecoverySimulation::wake(ProcessId process) {
  if (process == hand_) return strike();
  Process& one = at(process);
  if (one.core && one.core->state() == State::unborn && one.core->first_epoch()) return drive(process, Begin{});
  if (!one.core && !one.has_called) return call_host(process);
  detect(process);
  carry_out_later(process);
  if (one.wait == Process::Wait::leaving && now(process) >= one.leaves_at) leave_now(process);
}

void RecoverySimulation::drive(ProcessId process, Event event) {
  Process& one = at(process);
  const State before = one.core->state();
  const recovery::Actions actions = one.core->step(event);
  const State state = one.core->state();
  if (state != before && struck_) enter_phase(process, phase_in(state, one.core->position().epoch == Epoch{0}));
  for (const Action& action : actions) std::visit([&](const auto& what) { perform(process, what); }, action);
}

// --- detection -----------------------------------------------------------------------------------------------------

/// `members`: the processes that watch each other from now on.
void RecoverySimulation::enter_detection(ProcessId process, CommId members) {
  Process& one = at(process);
  const Position& position = one.core->position();
  std::vector<NodeId> nodes;
  for (std::uint32_t p = 0; p < position.processes; ++p) nodes.push_back({p / options_.network.processes_per_node});
  detector::Actions actions;
  one.detector->enter({Epoch{++one.standing}, position.processes,
                       difference(ProcessSet::first(position.processes), ProcessSet::of(comms_[members].members))},
                      nodes, now(process), actions);
  take(process, actions);
}

/// Handles the deaths that the kernel reports, and the deadlines of the detector.
void RecoverySimulation::detect(ProcessId process) {
  Process& one = at(process);
  if (!one.detector || one.standing == 0) return;
  detector::Actions actions;
  ProcessSet gone;
  for (const auto& [when, victim] : one.told) {
    if (when <= now(process)) gone.insert(victim);
  }
  std::erase_if(one.told, [&](const auto& told) { return told.first <= now(process); });
  if (!gone.empty()) {
    one.detector->witness(gone, detector::Told::nobody, now(process), actions);
    take(process, actions);
    actions.clear();
  }
  if (one.armed <= now(process)) one.armed = SimulatedTime::max();
  const auto deadline = one.detector->next_deadline();
  if (deadline && *deadline <= now(process)) one.detector->tick(now(process), actions);
  take(process, actions);
}

void RecoverySimulation::take(ProcessId process, detector::Actions& actions) {
  for (detector::Actions::Send& message : actions.sends) {
    if (message.message.kind == detector::Message::Kind::heartbeat) {
      simulator_->send(process, message.to, {std::move(message.message), at(process).depth});
    } else {
      send(process, message.to, {std::move(message.message), 0}, Phase::detect);
    }
  }
  if (actions.cut_off || actions.fenced) {
    was_cut_off_ = true;
    return simulator_->kill(process, now(process));
  }
  arm(process);
  if (!actions.died.empty()) learn(process, actions.died);
}

void RecoverySimulation::arm(ProcessId process) {
  Process& one = at(process);
  const auto deadline = one.detector->next_deadline();
  if (!deadline || *deadline >= one.armed) return;
  one.armed = *deadline;
  simulator_->wake(process, *deadline);
}

void RecoverySimulation::learn(ProcessId process, const ProcessSet& gone) {
  Process& one = at(process);
  if (!first_known_) first_known_ = now(process);
  const std::vector<ProcessId> dead = gone.members();
  std::vector<GroupKey> keys;
  for (const auto& [key, group] : one.groups) {
    if (key.second) keys.push_back(key);
  }
  for (const GroupKey& key : keys) {
    for (const ProcessId died : dead) tell_group(process, key, died);
  }
  one.untold.insert(one.untold.end(), dead.begin(), dead.end());
  answer(process);
  if (!one.core) return;
  const bool concerns = one.application != no_comm &&
                        std::ranges::any_of(dead, [&](ProcessId died) { return comms_[one.application].has(died); });
  if (one.wait == Process::Wait::call) {
    fail_waits_on_dead(process);
  } else if (one.wait == Process::Wait::body && concerns) {
    leave_body(process);
  } else if (one.wait == Process::Wait::parked) {
    wake_spare(process);
  }
}

/// Wakes a parked process if it is called, or if a rank has died.
void RecoverySimulation::wake_spare(ProcessId process) {
  Process& one = at(process);
  const Position& position = one.core->position();
  const bool is_called =
      std::ranges::any_of(one.spare_calls, [&](const CallSpares& call) { return position.heeds(call); });
  const bool rank_has_died = std::ranges::any_of(
      one.detector->known_dead().members(), [&](ProcessId dead) { return position.roster.rank_of(dead).has_value(); });
  if (!is_called && !rank_has_died) return;
  one.wait = Process::Wait::nothing;
  drive(process, Called{});
}

/// Called when the rank learns of a failure. It leaves the body at its next call.
void RecoverySimulation::leave_body(ProcessId process) {
  Process& one = at(process);
  enter_phase(process, Phase::interrupt);
  if (options_.until_call.count() == 0) return leave_now(process);
  one.wait = Process::Wait::leaving;
  const auto chance = transport::scramble(options_.seed, process.value, 19);
  one.leaves_at =
      now(process) +
      SimulatedTime{static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(options_.until_call.count()))};
  simulator_->wake(process, one.leaves_at);
}

void RecoverySimulation::leave_now(ProcessId process) {
  Process& one = at(process);
  one.leaves_at = SimulatedTime::max();
  one.wait = Process::Wait::nothing;
  one.restoring = false;
  drive(process, FailureNoticed{});
  drive(process, BodyLeft{agreement::Proposal::recover, ExitCode::ok, true, true});
}

// --- the result ----------------------------------------------------------------------------------------------------

std::optional<std::string> RecoverySimulation::verdict() const {
  if (was_cut_off_) return std::nullopt;
  const Process* first = nullptr;
  for (std::uint32_t p = 0; p < processes_.size(); ++p) {
    const Process& one = *processes_[p];
    if (!lives({p}) || !one.core) continue;
    const State state = one.core->state();
    if (end_ ? state != State::ended : one.phase != Phase::over)
      return fmt::format("Termination: {} never gets on, {}", p, to_string(state));
    for (const ProcessId dead : one.detector->known_dead().members()) {
      if (processes_[dead.value]->core && lives(dead))
        return fmt::format("Accuracy: {} holds {} dead, which lives", p, dead.value);
    }
    if (first == nullptr) first = &one;
    if (!(first->core->position().roster == one.core->position().roster))
      return "Agreement: two have different rosters";
    if (first->core->position().epoch != one.core->position().epoch) return "Agreement: two are in different epochs";
  }
  if (first == nullptr) return "nobody is left";
  if (end_) return std::nullopt;
  for (const Seat& seat : first->core->position().roster.seats) {
    if (!lives(seat.holder.process))
      return fmt::format("rank of process {} is held by the dead", seat.holder.process.value);
  }
  return std::nullopt;
}

const Roster& RecoverySimulation::roster() const {
  for (std::uint32_t p = 0;; ++p) {
    if (lives({p}) && processes_[p]->core) return processes_[p]->core->position().roster;
  }
}

SimulatedTime RecoverySimulation::total() const {
  SimulatedTime last{0};
  for (std::uint32_t p = 0; p < processes_.size(); ++p) {
    const Process& one = *processes_[p];
    if (lives({p}) && one.core && one.core->rank() && one.done) last = std::max(last, *one.done - died_at_);
  }
  return last;
}

PhaseCost RecoverySimulation::cost(Phase phase) const {
  const auto index = static_cast<std::size_t>(phase);
  PhaseCost cost;
  const Process* last = nullptr;
  double count = 0;
  for (std::uint32_t p = 0; p < processes_.size(); ++p) {
    const Process& one = *processes_[p];
    if (!lives({p}) || !one.core) continue;
    ++count;
    cost.messages += static_cast<double>(one.messages[index]);
    cost.bytes += static_cast<double>(one.bytes[index]);
    cost.most_messages = std::max(cost.most_messages, one.messages[index]);
    cost.most_bytes = std::max(cost.most_bytes, one.bytes[index]);
    const bool counts = one.done && one.is_survivor;
    if (counts && (last == nullptr || *one.done > *last->done)) last = &one;
  }
  cost.messages /= count;
  cost.bytes /= count;
  if (last == nullptr) return cost;
  cost.time = last->times[index];
  cost.rounds = last->rounds[index];
  return cost;
}

}  // namespace mend::recovery
