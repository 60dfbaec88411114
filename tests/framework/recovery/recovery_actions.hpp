// Carries out a core's actions. A part of recovery_system.hpp.

#pragma once

#include "tests/framework/recovery/recovery_system.hpp"

namespace mend::recovery {

template <class Rules>
bool System<Rules>::feed(std::size_t p, const Event& event, std::uint8_t cut, std::string* told) {
  Node& node = touch(p);
  const Actions actions = node.core->step(event);
  if (cut >= actions.size() && cut != 0) return false;
  if (told) {
    *told += fmt::format("  {} {}", p, to_string(event));
    for (std::size_t i = 0; i < actions.size() && (cut == 0 || i < cut); ++i) *told += "; " + to_string(actions[i]);
    *told += "\n";
  }
  act(p, actions, cut, told);
  return true;
}

template <class Rules>
void System<Rules>::act(std::size_t p, const Actions& actions, std::uint8_t cut, std::string* told) {
  std::uint8_t done = 0;
  for (const Action& action : actions) {
    if (cut != 0 && done++ == cut) {
      if (told) *told += fmt::format("  {} dies in the middle of that\n", p);
      --deaths_left_;
      crash(p, true);
      return;
    }
    std::visit([&](const auto& what) { perform(p, what, told); }, action);
  }
}

template <class Rules>
std::uint8_t System<Rules>::tag_of(std::size_t p) const {
  return static_cast<std::uint8_t>(nodes_[p]->core->state());
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Revoke& action, std::string*) {
  const Node& node = *nodes_[p];
  switch (action.what) {
    case What::application: comms_.revoke(node.application); break;
    case What::candidate:
      comms_.revoke(node.candidate);
      comms_.revoke(node.candidate_application);
      // A split that this process has left may have succeeded for others. Revoking the base of the split ends it there.
      break;
    case What::meeting: comms_.revoke(node.meeting); break;
  }
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const CallSpares& action, std::string*) {
  for (std::size_t q = 0; q < nodes_.size(); ++q) {
    if (q != p && lives(q)) calls_[q][p].add(action);
  }
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const CastBallot& action, std::string* told) {
  Node& node = touch(p);
  node.proposal = action.proposal;
  if (node.closed) {
    feed(p, ballot_ended(p, *node.closed, false), 0, told);
    return;
  }
  enter(p, node.application, Op::agree, 0xfe, ballot_contribution(action.proposal));
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const DecideJob& action, std::string*) {
  FixedOutcome stub;
  decide_job(stub, action.intent, action.code, action.progressed, knows_fault(p), false, action.committed_twice);
  enter(p, nodes_[p]->base, Op::agree, tag_of(p), stub.contributed);
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const NewCandidate&, std::string*) {
  Node& node = touch(p);
  node.candidate = node.candidate_application = none;
  node.meeting = node.joined = none;
  if (node.guest != 0xff) {
    const std::uint8_t guest = std::exchange(node.guest, std::uint8_t{0xff});
    if (lives(guest) && nodes_[guest]->stage == Stage::at_line) crash(guest, false);
  }
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Settle&, std::string*) {
  enter(p, nodes_[p]->base, Op::settle, tag_of(p));
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Shrink&, std::string*) {
  enter(p, nodes_[p]->base, Op::shrink, tag_of(p));
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Agree& action, std::string*) {
  const Node& node = *nodes_[p];
  enter(p, action.among == Among::base ? node.base : node.candidate, Op::agree, tag_of(p), action.contribution);
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Split&, std::string*) {
  enter(p, nodes_[p]->candidate, Op::split, 0);
  if (nodes_[p]->on == none) return;
  Point& point = *point_of(*nodes_[p]);
  if (point.made != none) return;
  Mask members = 0;
  // The processes that hold a rank by p's plan, which is the same for all by I1.
  const Comm like = comms_[nodes_[p]->candidate];
  for (std::size_t i = 0; i < like.size; ++i) {
    if (plays_next(p, like.order[i])) members = static_cast<Mask>(members | 1U << like.order[i]);
  }
  const CommId made = comms_.make(members, like);
  point_of(*nodes_[p])->made = made;
}

template <class Rules>
bool System<Rules>::plays_next(std::size_t p, std::uint8_t process) const {
  return nodes_[p]->core->planned_rank(ProcessId{process}).has_value();
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const AdoptCandidate&, std::string*) {
  Node& node = touch(p);
  node.base = std::exchange(node.candidate, none);
  node.application = std::exchange(node.candidate_application, none);
  node.noticed = static_cast<Mask>(node.noticed & comms_[node.base].members);
  node.closed.reset();
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Found&, std::string*) {
  enter(p, nodes_[p]->base, Op::found, 0);
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const StartProcess&, std::string*) {
  Node& node = touch(p);
  node.op = Op::start;
  node.guest = 0xff;
  for (std::uint8_t q = static_cast<std::uint8_t>(node.core->position().processes); q < nodes_.size(); ++q) {
    if (nodes_[q]->stage != Stage::unborn) continue;
    Node& newcomer = touch(q);
    newcomer.stage = Stage::at_line;
    newcomer.host = static_cast<std::uint8_t>(p);
    living_ = static_cast<Mask>(living_ | 1U << q);
    touch(p).guest = q;
    return;
  }
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Meet&, std::string*) {
  enter(p, nodes_[p]->base, Op::meet, 0);
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Connect& action, std::string*) {
  enter(p, nodes_[p]->meeting, Op::connect, 0);
  if (!action.hosting || nodes_[p]->guest == 0xff || !lives(nodes_[p]->guest)) return;
  point_of(*nodes_[p])->value = 1;
  const auto guest = nodes_[p]->guest;
  Node& newcomer = touch(guest);
  Position position = nodes_[p]->core->position();
  position.members.push_back(ProcessId{guest});
  position.roster.spares.push_back({ProcessId{guest}, NodeId{guest}});
  newcomer.position = position;
  newcomer.course = nodes_[p]->core->course();
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Merge& action, std::string*) {
  enter(p, nodes_[p]->meeting, Op::merge, 0);
  if (!action.hosting || nodes_[p]->guest == 0xff || !lives(nodes_[p]->guest)) return;
  const auto guest = nodes_[p]->guest;
  const Comm like = comms_[nodes_[p]->meeting];
  const CommId made = comms_.make(static_cast<Mask>(like.members | 1U << guest), like, guest);
  Point& point = *point_of(*nodes_[p]);
  point.value = 1;
  point.made = made;
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Admit& action, std::string*) {
  if (action.hosting && nodes_[p]->guest != 0xff && lives(nodes_[p]->guest)) {
    const auto guest = nodes_[p]->guest;
    Node& newcomer = touch(guest);
    newcomer.stage = Stage::admitted;
    newcomer.joined = nodes_[p]->joined;
    newcomer.host = 0xff;
    newcomer.core.emplace(setup(guest), *newcomer.position, newcomer.course);
    newcomer.position.reset();
    newcomer.course = {};
    enter(guest, newcomer.joined, Op::admit, 0);
  }
  enter(p, nodes_[p]->joined, Op::admit, 0);
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const EnterBody& action, std::string*) {
  Node& node = touch(p);
  if (action.newcomer) node.data = 0;
  node.is_first_half = true;
  enter(p, node.application, Op::exchange, 0);
}

template <class Rules>
bool System<Rules>::go_on_in_body(std::size_t p) {
  Node& node = touch(p);
  node.is_first_half = false;
  node.restoring = node.core->position().epoch > Epoch{0};
  if (node.restoring) {
    enter(p, node.application, Op::agree, 0xfe, ballot_contribution(agreement::Proposal::restore));
  } else {
    enter(p, node.application, Op::exchange, 0);
  }
  return true;
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Park&, std::string*) {
  touch(p).op = Op::park;
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const SaveWhatIsLeft&, std::string*) {
  enter(p, nodes_[p]->application, Op::save, 0);
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const End& action, std::string*) {
  touch(p).end = action;
}

template <class Rules>
void System<Rules>::perform(std::size_t p, const Die&, std::string*) {
  crash(p, true);
}

}  // namespace mend::recovery
