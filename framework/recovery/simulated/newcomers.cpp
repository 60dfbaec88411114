// A simulated process that is started for a vacant rank, and its host.

#include "framework/process/failure_detector.hpp"
#include "framework/recovery/simulated/process.hpp"

#include <algorithm>

namespace mend::recovery {

/// Starts one process for each vacant rank at once. They join one after the other.
void RecoverySimulation::perform(ProcessId process, const StartProcess&) {
  Process& one = at(process);
  one.wait = Process::Wait::guest;
  const Position& position = one.core->position();
  std::erase_if(one.waiting, [&](ProcessId newcomer) { return newcomer.value < position.processes; });
  const std::size_t vacant = position.roster.absent(position.members).size();
  std::uint32_t next = position.processes + static_cast<std::uint32_t>(one.waiting.size());
  while (one.waiting.size() < std::max<std::size_t>(1, vacant) && next < hand_.value) {
    const ProcessId newcomer{next++};
    one.waiting.push_back(newcomer);
    at(newcomer).host = process;
    at(newcomer).wait = Process::Wait::joining;
    simulator_->wake(newcomer, now(process) + options_.start_process);
  }
  if (one.waiting.empty()) return drive(process, NewcomerLost{});
  if (at(one.waiting.front()).has_called) start_newcomer(process);
  answer(process);
}

/// Reports to the host that a newcomer has been started.
void RecoverySimulation::call_host(ProcessId guest) {
  at(guest).has_called = true;
  at(guest).since = now(guest);
  enter_phase(guest, Phase::start);
  send(guest, at(guest).host, Note{Note::Kind::guest, no_comm, 0, known_peers, 32});
}

/// Sends the next newcomer the members of the job.
void RecoverySimulation::start_newcomer(ProcessId host) {
  Process& one = at(host);
  const ProcessId newcomer = one.waiting.front();
  const ByteCount bytes = one.core->position().members.size() * sizeof(DetectorPeer);
  send(host, newcomer, Note{Note::Kind::guest, no_comm, 0, introduction, bytes});
}

/// Sends the guest the data that it needs to be a member.
void RecoverySimulation::let_in(ProcessId host) {
  Process& one = at(host);
  Process& guest = at(*one.guest);
  Position position = one.core->position();
  position.members.push_back(*one.guest);
  position.roster.spares.push_back({*one.guest, NodeId{one.guest->value / options_.network.processes_per_node}});
  guest.position = position;
  guest.course = {};
  guest.course.before = one.core->course().before;
  guest.course.dead = one.core->course().dead;
  guest.course.without_commit = one.core->course().without_commit;
  guest.course.rounds = one.core->course().rounds;
  guest.course.row = one.core->course().row;
  guest.course.unable = one.core->course().unable;
  guest.course.started = one.core->course().started;
  guest.standing = one.standing;
  const ByteCount bytes = position.members.size() * (sizeof(Seat) + sizeof(ProcessId));
  send(host, *one.guest, Note{Note::Kind::guest, one.on, one.number, invitation, bytes});
}

void RecoverySimulation::give_up_guest(ProcessId host) {
  Process& one = at(host);
  if (!one.guest || !one.core->hosts()) return;
  if (lives(*one.guest) && !at(*one.guest).core) simulator_->kill(*one.guest, now(host));
  one.guest.reset();
}

void RecoverySimulation::perform(ProcessId process, const Meet&) { call(process, Call::meet, at(process).base); }

void RecoverySimulation::perform(ProcessId process, const Connect&) {
  Process& one = at(process);
  one.host = one.core->host();
  call(process, Call::connect, one.meeting);
}

void RecoverySimulation::perform(ProcessId process, const Merge&) { call(process, Call::greet, at(process).meeting); }

void RecoverySimulation::perform(ProcessId process, const Admit& action) {
  Process& one = at(process);
  if (action.hosting) send(process, *one.guest, Note{Note::Kind::guest, one.meeting, 0, admission, 1});
  enter_detection(process, one.joined);
  call(process, Call::settle, one.base);
}

/// Handles a message between a newcomer and its host, and later between a newcomer and all members.
void RecoverySimulation::guest_hears(ProcessId process, ProcessId from, const Note& note) {
  Process& one = at(process);
  switch (note.round) {
    case known_peers:  // the host: a process has called
      if (one.wait == Process::Wait::guest && !one.waiting.empty() && one.waiting.front() == from)
        start_newcomer(process);
      return;
    case introduction:
      if (one.core) {  // the host: the newcomer has introduced itself
        one.guest = from;
        std::erase(one.waiting, from);
        one.wait = Process::Wait::nothing;
        return drive(process, NewcomerCalled{from});
      }
      one.detector.emplace(process, options_.timing);
      return send(process, from, Note{Note::Kind::guest, no_comm, 0, introduction, sizeof(DetectorPeer)});
    case invitation:
      enter_phase(process, Phase::connect);
      return send(process, from, Note{Note::Kind::step, note.comm, note.number, 0, 64});
    case greeting: {
      enter_phase(process, Phase::merge);
      send(process, from, Note{Note::Kind::step, note.comm, note.number, 0, 1});
      one.meeting = note.comm;
      if (++one.greeted < comms_[note.comm].members.size()) return;
      std::vector<ProcessId> members = comms_[note.comm].members;
      members.push_back(process);
      one.joined = comms_.make(note.comm, Call::greet, one.calls[{note.comm, Call::greet}]++, members);
      return call(process, Call::merge, one.joined);
    }
    default: enter_phase(process, Phase::admit); return call(process, Call::admit, one.joined);
  }
}

}  // namespace mend::recovery
