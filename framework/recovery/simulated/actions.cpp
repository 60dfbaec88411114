// The actions that a simulated process carries out for its core, and its calls of the library.

#include "base/assert.hpp"
#include "framework/recovery/job_decision.hpp"
#include "framework/recovery/simulated/process.hpp"

#include <algorithm>
#include <bit>

namespace mend::recovery {
namespace {

using Kind = LibraryStep::Kind;

constexpr std::uint32_t yes = 1;

bool is_exchange(Kind kind) { return kind != Kind::agreement && kind != Kind::local && kind != Kind::ballot; }

}  // namespace

// --- an epoch ------------------------------------------------------------------------------------------------------

void RecoverySimulation::perform(ProcessId process, const Revoke& action) {
  Process& one = at(process);
  switch (action.what) {
    case What::application: return revoke(process, one.application);
    case What::candidate: revoke(process, one.candidate); return revoke(process, one.application_candidate);
    case What::meeting: return revoke(process, one.meeting);
  }
}

void RecoverySimulation::perform(ProcessId process, const CallSpares& action) {
  for (const Placed& spare : at(process).core->position().roster.spares) {
    send(process, spare.process, Note{Note::Kind::call_spares, no_comm, action.epoch.value, 0, 0, action.because_of});
  }
}

void RecoverySimulation::perform(ProcessId process, const CastBallot& action) {
  Process& one = at(process);
  one.proposal = action.proposal;
  if (one.closed) return drive(process, BallotEnded{*one.closed, one.detector->known_dead()});
  one.wait = Process::Wait::agreement;
  contribute(process, {one.application, false}, ballot_contribution(action.proposal));
}

void RecoverySimulation::perform(ProcessId process, const DecideJob& action) {
  FixedOutcome everyone;
  decide_job(everyone, action.intent, action.code, action.progressed, false, false, action.committed_twice);
  at(process).wait = Process::Wait::agreement;
  contribute(process, {at(process).base, false}, everyone.contributed);
}

void RecoverySimulation::perform(ProcessId process, const Agree& action) {
  Process& one = at(process);
  one.wait = Process::Wait::agreement;
  contribute(process, {action.among == Among::base ? one.base : one.candidate, false}, action.contribution);
}

void RecoverySimulation::perform(ProcessId process, const EnterBody& action) {
  Process& one = at(process);
  enter_detection(process, at(process).base);
  one.wait = Process::Wait::body;
  if (one.core->position().epoch == Epoch{0}) return;
  one.is_survivor = one.is_survivor && !action.newcomer;
  begin_restore(process);
}

void RecoverySimulation::perform(ProcessId process, const Park&) {
  at(process).wait = Process::Wait::parked;
  enter_detection(process, at(process).base);
  if (at(process).wait == Process::Wait::parked) wake_spare(process);
}

void RecoverySimulation::perform(ProcessId, const SaveWhatIsLeft&) { require(false, "a simulated job has no disk"); }

void RecoverySimulation::perform(ProcessId process, const End& action) {
  at(process).wait = Process::Wait::nothing;
  end_ = action;
}

void RecoverySimulation::perform(ProcessId process, const Die&) { simulator_->kill(process, now(process)); }

// --- a round -------------------------------------------------------------------------------------------------------

void RecoverySimulation::perform(ProcessId process, const NewCandidate&) {
  Process& one = at(process);
  one.candidate = one.application_candidate = one.meeting = one.joined = no_comm;
  give_up_guest(process);
}

void RecoverySimulation::perform(ProcessId process, const Settle&) { call(process, Call::settle, at(process).base); }
void RecoverySimulation::perform(ProcessId process, const Shrink&) { call(process, Call::shrink, at(process).base); }
void RecoverySimulation::perform(ProcessId process, const Found&) { call(process, Call::found, at(process).base); }

void RecoverySimulation::perform(ProcessId process, const Split&) { call(process, Call::split, at(process).candidate); }

void RecoverySimulation::perform(ProcessId process, const AdoptCandidate&) {
  Process& one = at(process);
  one.base = std::exchange(one.candidate, no_comm);
  one.application = std::exchange(one.application_candidate, no_comm);
  one.closed.reset();
  forget_groups(process);
}

// --- calls of the library ------------------------------------------------------------------------------------------

void RecoverySimulation::call(ProcessId process, Call call, CommId comm) {
  Process& one = at(process);
  one.wait = Process::Wait::call;
  one.call = call;
  one.on = comm;
  one.steps = steps_of(call, comms_[comm].members.size());
  one.step = 0;
  begin_step(process);
}

void RecoverySimulation::begin_step(ProcessId process) {
  Process& one = at(process);
  if (one.step == one.steps.size()) return call_ends(process, true);
  one.number = one.next_number[one.on]++;
  one.round = 0;
  const LibraryStep step = one.steps[one.step];
  const bool hosts = one.core && one.core->hosts();
  switch (step.kind) {
    case Kind::agreement: contribute(process, {one.on, true}, yes); return answer(process);
    case Kind::local:
      one.later.push_back({now(process) + SimulatedTime{static_cast<std::int64_t>(
                                              static_cast<double>(options_.bytes_per_rank) / options_.memory_speed)},
                           std::nullopt});
      return simulator_->wake(process, one.later.back().at);
    case Kind::transfers: enter_phase(process, Phase::data); break;
    case Kind::ballot:
      one.wait = Process::Wait::agreement;
      return contribute(process, {one.application, false}, ballot_contribution(agreement::Proposal::restore));
    case Kind::greeting:
      send(process, at(one.host).guest.value(), Note{Note::Kind::guest, one.on, one.number, greeting, 1});
      break;
    case Kind::invitation:
      if (hosts) let_in(process);
      break;
    default: break;
  }
  if (one.revoked.contains(one.on)) return call_ends(process, false);
  fail_waits_on_dead(process);
  if (one.wait == Process::Wait::call && one.number + 1 == one.next_number[one.on]) go_on(process);
}

/// Continues the call as far as the messages that have arrived allow.
void RecoverySimulation::go_on(ProcessId process) {
  Process& one = at(process);
  const LibraryStep step = one.steps[one.step];
  const Comm& comm = comms_[one.on];
  const std::size_t size = comm.members.size();
  const std::size_t own = comm.rank(process);
  const std::uint64_t heard = one.heard[{one.on, one.number}];
  const auto has_heard = [&](std::uint32_t round) { return (heard >> round & 1U) != 0; };
  const auto tell = [&](std::size_t to, std::uint32_t round, ByteCount bytes) {
    send(process, comm.members[to], Note{Note::Kind::step, one.on, one.number, round, bytes});
  };
  switch (step.kind) {
    case Kind::allreduce:
    case Kind::allgather: {
      // one.round: the number of rounds that the process has sent.
      const std::uint32_t rounds = rounds_among(size);
      while (one.round < rounds && (one.round == 0 || has_heard(one.round - 1))) {
        const std::size_t distance = std::size_t{1} << one.round;
        const std::size_t pieces = step.kind == Kind::allgather ? std::min(distance, size - distance) : 1;
        tell((own + distance) % size, one.round++, pieces * step.bytes);
      }
      if (rounds > 0 && (one.round < rounds || !has_heard(rounds - 1))) return;
      break;
    }
    case Kind::broadcast: {
      const std::size_t root = comm.rank(one.core->host());
      const std::size_t label = (own + size - root) % size;
      if (label != 0 && !has_heard(0)) return;
      for (std::size_t ahead = std::bit_floor(label) * 2 + (label == 0 ? 1 : 0); label + ahead < size; ahead *= 2) {
        tell((label + ahead + root) % size, 0, step.bytes);
      }
      break;
    }
    case Kind::invitation:
      if (one.core->hosts() && !has_heard(0)) return;
      break;
    case Kind::greeting:
      if (!has_heard(0)) return;
      break;
    case Kind::transfers: return restore_goes_on(process);
    default: return;
  }
  one.heard.erase({one.on, one.number});
  ++one.step;
  begin_step(process);
}

/// Called when the library's agreement in which this process waits has ended. The first agreement of shrinking decides
/// which processes are dead, and is repeated until every process knows all of them.
void RecoverySimulation::library_decided(ProcessId process, const agreement::Decision& decision) {
  Process& one = at(process);
  const bool shrinks = one.call != Call::settle;
  if (shrinks && one.step == 0 && decision.unacknowledged_failure) return contribute(process, {one.on, true}, yes);
  if (shrinks && one.step == 0) {
    one.shrunk_without = one.groups.at({one.on, true}).core->agreed_dead();
    one.shrunk_without.insert(decision.failed);
  }
  ++one.step;
  begin_step(process);
}

void RecoverySimulation::call_ends(ProcessId process, bool succeeded) {
  Process& one = at(process);
  one.wait = Process::Wait::nothing;
  const auto living = [&] {
    std::vector<ProcessId> members;
    for (const ProcessId member : comms_[one.on].members) {
      const auto place = static_cast<std::uint32_t>(comms_[one.on].rank(member));
      if (!one.shrunk_without.contains(agreement::Member{place})) members.push_back(member);
    }
    return members;
  };
  const auto number = one.calls[{one.on, one.call}]++;
  const auto made = [&](const std::vector<ProcessId>& members) {
    return comms_.make(one.on, one.call, number, members);
  };
  switch (one.call) {
    case Call::settle:
      if (one.core->state() == State::admitting) return call(process, Call::admit, one.joined);
      return drive(process, Settled{});
    case Call::shrink: {
      const std::vector<ProcessId> members = living();
      one.candidate = made(members);
      return drive(process, Shrunk{true, members});
    }
    case Call::split: {
      if (!succeeded) return drive(process, SplitEnded{Making::interrupted});
      std::vector<std::pair<Rank, ProcessId>> ranks;
      for (const ProcessId member : comms_[one.candidate].members) {
        if (const auto rank = one.core->planned_rank(member)) ranks.emplace_back(*rank, member);
      }
      std::ranges::sort(ranks);
      std::vector<ProcessId> members;
      for (const auto& [rank, member] : ranks) members.push_back(member);
      const CommId application = made(members);
      if (comms_[application].has(process)) one.application_candidate = application;
      return drive(process, SplitEnded{Making::done});
    }
    case Call::found: return drive(process, Founded{});
    case Call::meet: {
      const std::vector<ProcessId> members = living();
      one.meeting = made(members);
      return drive(process, MeetingEnded{members.size() == comms_[one.base].members.size()});
    }
    case Call::connect: return drive(process, MeetingEnded{succeeded});
    case Call::greet: {
      if (!succeeded) return drive(process, MeetingEnded{false});
      std::vector<ProcessId> members = comms_[one.meeting].members;
      members.push_back(at(one.host).guest.value());
      one.joined = made(members);
      return call(process, Call::merge, one.joined);
    }
    case Call::merge:
      if (one.core) return drive(process, MeetingEnded{succeeded});
      one.wait = Process::Wait::joining;
      return;
    case Call::admit: {
      const ProcessId newcomer = comms_[one.joined].members.back();
      one.base = one.joined;
      one.meeting = one.joined = no_comm;
      if (newcomer == process) {
        one.core.emplace(Setup{process, options_.policy, 10, false, {}}, *one.position, one.course);
        enter_detection(process, at(process).base);
        return drive(process, Begin{});
      }
      one.guest.reset();
      return drive(process, Admitted{{newcomer, NodeId{newcomer.value / options_.network.processes_per_node}}});
    }
    case Call::restore: {
      require(!succeeded, "a restore ends by a ballot");
      one.restoring = false;
      one.later.clear();
      return drive(process, BodyLeft{agreement::Proposal::recover, ExitCode::ok, false});
    }
  }
}

void RecoverySimulation::fail_waits_on_dead(ProcessId process) {
  Process& one = at(process);
  if (one.wait != Process::Wait::call || !is_exchange(one.steps[one.step].kind)) return;
  const std::vector<ProcessId> dead = one.detector->known_dead().members();
  if (std::ranges::any_of(dead, [&](ProcessId gone) { return comms_[one.on].has(gone); })) call_ends(process, false);
}

// --- notes ---------------------------------------------------------------------------------------------------------

void RecoverySimulation::take_note(ProcessId process, ProcessId from, const Note& note) {
  Process& one = at(process);
  switch (note.kind) {
    case Note::Kind::revoke: return hear_revocation(process, note.comm);
    case Note::Kind::call_spares:
      one.spare_calls.push_back({Epoch{note.number}, note.because_of});
      if (one.wait == Process::Wait::parked) wake_spare(process);
      return;
    case Note::Kind::step:
      one.heard[{note.comm, note.number}] |= std::uint64_t{1} << note.round;
      if (one.wait == Process::Wait::call && one.on == note.comm && one.number == note.number) go_on(process);
      return;
    case Note::Kind::restore:
      ++one.brought[{note.comm, note.number}];
      if (one.wait == Process::Wait::call && one.call == Call::restore && one.on == note.comm &&
          one.steps[one.step].kind == Kind::transfers)
        restore_goes_on(process);
      return;
    case Note::Kind::guest: return guest_hears(process, from, note);
  }
}

/// Revokes along a binomial graph: sends to the members 1, 2, 4, ... places before and behind. Both communicators of an
/// epoch are revoked, the application's and the store's; the second one travels with the first.
void RecoverySimulation::revoke(ProcessId process, CommId comm) {
  Process& one = at(process);
  if (comm == no_comm || !one.revoked.insert(comm).second) return;
  const Comm& members = comms_[comm];
  const std::size_t size = members.members.size();
  const std::size_t own = members.rank(process);
  for (std::size_t distance = 1; distance <= size / 2; distance *= 2) {
    for (const std::size_t to : {(own + distance) % size, (own + size - distance) % size}) {
      std::size_t next = to;
      // The ring is never cut: the closest member that is not known to be dead.
      while (distance == 1 && one.detector->known_dead().contains(members.members[next]) && next != own) {
        next = to == (own + 1) % size ? (next + 1) % size : (next + size - 1) % size;
      }
      if (next == own || one.detector->known_dead().contains(members.members[next])) continue;
      for (int copy = 0; copy < 2; ++copy) {
        send(process, members.members[next], Note{Note::Kind::revoke, comm, 0, 0, 16});
      }
    }
  }
}

void RecoverySimulation::hear_revocation(ProcessId process, CommId comm) {
  Process& one = at(process);
  if (one.revoked.contains(comm)) return;
  if (one.wait == Process::Wait::body && comm == one.application) {
    leave_body(process);  // its core revokes too, and so forwards the revocation
    return;
  }
  if (one.wait == Process::Wait::leaving && comm == one.application) return;
  revoke(process, comm);
  if (one.wait == Process::Wait::call && comm == one.on && is_exchange(one.steps[one.step].kind)) {
    call_ends(process, false);
  }
}

}  // namespace mend::recovery
