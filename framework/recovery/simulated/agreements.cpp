// The part of a simulated process in agreements: mend's own, and the library's.

#include "framework/recovery/job_decision.hpp"
#include "framework/recovery/simulated/process.hpp"

#include <utility>
#include <vector>

namespace mend::recovery {

/// Returns the group. The process joins it at the first call.
RecoverySimulation::Group& RecoverySimulation::group(ProcessId process, GroupKey key) {
  Process& one = at(process);
  const auto known = one.groups.find(key);
  if (known != one.groups.end()) return known->second;
  const Comm& comm = comms_[key.first];
  Group& made = one.groups[key];
  made.core = agreement::make_core(agreement::Protocol::era, {static_cast<std::uint32_t>(comm.rank(process))},
                                   key.second ? comm.tree_of_library : comm.tree_of_mend);
  if (one.detector) {
    for (const ProcessId dead : one.detector->known_dead().members()) tell_group(process, key, dead);
  }
  if (const auto early = one.early.extract(key)) {
    for (const auto& [from, agreeing] : early.mapped()) deliver(process, from, agreeing);
  }
  return one.groups.at(key);
}

void RecoverySimulation::tell_group(ProcessId process, GroupKey key, ProcessId died) {
  Process& one = at(process);
  const auto found = one.groups.find(key);
  if (found == one.groups.end() || !comms_[key.first].has(died)) return;
  agreement::Actions actions;
  found->second.core->dead({agreement::Member{static_cast<std::uint32_t>(comms_[key.first].rank(died))}}, actions);
  perform(process, key, actions);
}

void RecoverySimulation::contribute(ProcessId process, GroupKey key, std::uint32_t value) {
  Group& in = group(process, key);
  agreement::Actions actions;
  const agreement::AgreementId number = std::exchange(in.next, {in.next.value + 1});
  if (key.second) in.core->acknowledge(in.core->known_dead());
  in.core->contribute(number, {.value = agreement::value_of(value), .call = agreement::Call::blocking}, actions);
  perform(process, key, actions);
  answer(process);
}

void RecoverySimulation::perform(ProcessId process, GroupKey key, agreement::Actions& actions) {
  const Comm& comm = comms_[key.first];
  for (agreement::Actions::Send& message : actions.sends) {
    send(process, comm.members[message.to.value], {Agreeing{key.first, key.second, std::move(message.message)}, 0},
         phase_of(process));
  }
  for (const auto& one : actions.decided) decided(process, key, one.decision);
}

void RecoverySimulation::decided(ProcessId process, GroupKey key, const agreement::Decision& decision) {
  Process& one = at(process);
  if (key.second) return library_decided(process, decision);
  const agreement::Outcome outcome{agreement::value_as<std::uint32_t>(decision.value), decision.unacknowledged_failure};
  one.wait = Process::Wait::nothing;
  if (one.restoring || one.core->state() == State::balloting) {
    const agreement::Proposal proposal = one.restoring ? agreement::Proposal::restore : one.proposal;
    const auto result = agreement::Ballot(std::make_unique<FixedOutcome>(outcome), Rank{0}, 1).cast(proposal, true);
    if (result == agreement::BallotResult::recover || result == agreement::BallotResult::abandon) one.closed = result;
    if (one.restoring) return restore_ends(process, result);
    return drive(process, BallotEnded{result, one.detector->known_dead()});
  }
  if (one.core->state() == State::deciding) {
    FixedOutcome everyone(outcome);
    return drive(process, Decided{decide_job(everyone, Intent::follow)});
  }
  drive(process, Agreed{outcome});
}

void RecoverySimulation::deliver(ProcessId process, ProcessId from, const Agreeing& agreeing) {
  Process& one = at(process);
  const GroupKey key{agreeing.comm, agreeing.of_library};
  if (key.first < one.first_live) return;
  if (!key.second && !answers(process)) {
    one.unanswered.emplace_back(from, agreeing);
    return;
  }
  const auto found = one.groups.find(key);
  if (found == one.groups.end()) {
    one.early[key].emplace_back(from, agreeing);
    return;
  }
  agreement::Actions actions;
  found->second.core->receive({static_cast<std::uint32_t>(comms_[key.first].rank(from))}, agreeing.message, actions);
  perform(process, key, actions);
}

/// Returns true if the process answers now: mend answers for its agreements only inside its own calls.
bool RecoverySimulation::answers(ProcessId process) const {
  const Process& one = at(process);
  const bool settles = one.wait == Process::Wait::call && one.call == Call::settle;
  return one.wait == Process::Wait::agreement || one.wait == Process::Wait::guest || settles;
}

void RecoverySimulation::answer(ProcessId process) {
  Process& one = at(process);
  while (answers(process) && (!one.untold.empty() || !one.unanswered.empty())) {
    if (!one.untold.empty()) {
      const ProcessId died = one.untold.front();
      one.untold.pop_front();
      std::vector<GroupKey> keys;
      for (const auto& [key, group] : one.groups) {
        if (!key.second) keys.push_back(key);
      }
      drive(process, ProcessDied{died});
      for (const GroupKey& key : keys) tell_group(process, key, died);
      continue;
    }
    const auto [from, agreeing] = std::move(one.unanswered.front());
    one.unanswered.pop_front();
    deliver(process, from, agreeing);
  }
}

/// Forgets the groups of older communicators: all processes have returned from them.
void RecoverySimulation::forget_groups(ProcessId process) {
  Process& one = at(process);
  one.first_live = one.base;
  std::erase_if(one.groups, [&](const auto& entry) { return entry.first.first < one.first_live; });
  std::erase_if(one.early, [&](const auto& entry) { return entry.first.first < one.first_live; });
  std::erase_if(one.heard, [&](const auto& entry) { return entry.first.first < one.first_live; });
}

}  // namespace mend::recovery
