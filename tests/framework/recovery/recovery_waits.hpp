// The ways in which a process's wait ends: successfully, with an error, or by its death. A part of recovery_system.hpp.

#pragma once

#include "tests/framework/recovery/recovery_system.hpp"

namespace mend::recovery {

template <class Rules>
bool System<Rules>::can_go(std::size_t p) const {
  const Node& node = *nodes_[p];
  if (node.op == Op::nothing || !node.core) return false;
  if (node.op == Op::park) return is_woken(p);
  if (node.op == Op::start) return node.guest != 0xff && newcomer_waits(node.guest);
  const Point& point = *point_of(node);
  switch (node.op) {
    case Op::agree:
      if (!point.decided) return false;
      if (!point.disturbed) return true;
      for (std::size_t q = 0; q < nodes_.size(); ++q) {
        if (lives(q) && (point.returned >> q & 1U) && !answers(*nodes_[q])) return false;
      }
      return true;
    case Op::settle:
    case Op::found:
    case Op::admit: return all_entered(point);
    case Op::shrink:
    case Op::meet: return point.decided;
    case Op::connect:
    case Op::merge: return comms_.every_member_entered(point) && (point.value & 1U) != 0;
    case Op::exchange:
    case Op::save: return (point.entered >> before_in_ring(comms_[node.on], p) & 1U) != 0;
    default: return comms_.every_member_entered(point);
  }
}

template <class Rules>
bool System<Rules>::is_woken(std::size_t p) const {
  const Node& node = *nodes_[p];
  const Position& position = node.core->position();
  for (std::size_t by = 0; by < nodes_.size(); ++by) {
    if (calls_[p][by].wakes(position)) return true;
  }
  for (const Seat& seat : position.roster.seats) {
    if (!lives(seat.holder.process.value)) return true;
  }
  return false;
}

template <class Rules>
bool System<Rules>::can_fail(std::size_t p) const {
  const Node& node = *nodes_[p];
  if (!node.core) return false;
  if (node.op == Op::start) return node.guest == 0xff || !lives(node.guest);
  if (node.op == Op::shrink || node.op == Op::meet) {
    const Point& point = *point_of(node);
    return point.decided && point.may_fail;
  }
  const bool is_breakable = node.op == Op::split || node.op == Op::connect || node.op == Op::merge ||
                            node.op == Op::exchange || node.op == Op::save;
  if (!is_breakable) return false;
  const Comm& comm = comms_[node.on];
  if (comm.revoked) return true;
  if (node.guest != 0xff && (node.op == Op::connect || node.op == Op::merge) && !lives(node.guest)) return true;
  return !lives(before_in_ring(comm, p));
}

template <class Rules>
bool System<Rules>::can_notice(std::size_t p, std::size_t q) const {
  const Node& node = *nodes_[p];
  const bool is_told = node.op == Op::agree || node.op == Op::settle || node.op == Op::start;
  if (!node.core || lives(q) || (node.noticed >> q & 1U) || !is_told) return false;
  return (comms_[node.base].members >> q & 1U) != 0;
}

template <class Rules>
bool System<Rules>::must_end(std::size_t p) const {
  const Node& node = *nodes_[p];
  return node.stage == Stage::at_line && node.host != 0xff && !lives(node.host);
}

template <class Rules>
bool System<Rules>::would_disturb(std::size_t p) const {
  for (const Point& point : comms_.points) {
    if (point.op != Op::agree || !point.decided || !(comms_[point.comm].members >> p & 1U)) continue;
    const Mask others = static_cast<Mask>(living_ & ~(1U << p));
    if ((point.entered & others & ~point.returned) != 0 && (point.returned & others) != 0) return true;
  }
  for (std::size_t q = 0; q < nodes_.size(); ++q) {
    if (q != p && lives(q) && calls_[q][p].is_there()) return true;
  }
  return false;
}

template <class Rules>
void System<Rules>::crash(std::size_t p, bool disturbs) {
  living_ = static_cast<Mask>(living_ & ~(1U << p));
  if (disturbs) {
    for (Point& point : comms_.points) {
      if (point.op == Op::agree && point.decided && (comms_[point.comm].members >> p & 1U)) point.disturbed = true;
    }
    for (std::size_t q = 0; q < nodes_.size(); ++q) calls_[q][p] = {};
  }
  const Stage stage = nodes_[p]->core ? Stage::admitted : nodes_[p]->stage;
  nodes_[p] = std::make_shared<Node>();
  nodes_[p]->stage = stage;
  nodes_[p]->base = 0;
  for (auto& by : calls_[p]) by = {};
  note_losses();
}

template <class Rules>
void System<Rules>::note_losses() {
  Mask left = 0;
  for (std::size_t q = 0; q < nodes_.size(); ++q) {
    if (lives(q)) left = static_cast<Mask>(left | nodes_[q]->data);
  }
  const Mask all = static_cast<Mask>((1U << scene_->ranks) - 1);
  lost_ = static_cast<Mask>(lost_ | (all & ~left));
}

template <class Rules>
void System<Rules>::err(std::size_t p, std::string* told) {
  Node& node = touch(p);
  if (!std::exchange(node.troubled, true)) --errors_left_;
  const bool in_body = node.op == Op::exchange;
  if (node.restoring) {  // its contribution to the ballot cannot be withdrawn
    if (told) *told += fmt::format("  {} has an error of its own in a ballot, and dies alone\n", p);
    crash(p, true);
    return;
  }
  if (Point* point = point_of(node); point && node.op == Op::split) {  // the others get nothing from the split
    point->entered = static_cast<Mask>(point->entered & ~(1U << p));
  }
  stop_waiting(p);
  if (in_body) {
    leave(p, agreement::Proposal::abandon, ExitCode::failed, 0, told);
  } else {
    feed(p, LocalError{}, 0, told);
  }
}

template <class Rules>
void System<Rules>::stop_waiting(std::size_t p) {
  Node& node = touch(p);
  if (Point* point = point_of(node)) point->returned = static_cast<Mask>(point->returned | 1U << p);
  node.op = Op::nothing;
  node.on = none;
}

template <class Rules>
bool System<Rules>::leave(std::size_t p, agreement::Proposal proposal, ExitCode code, std::uint8_t cut,
                          std::string* told) {
  touch(p).restoring = false;
  return feed(p, BodyLeft{proposal, code, false}, cut, told);
}

template <class Rules>
bool System<Rules>::go(std::size_t p, bool knows_all, std::uint8_t cut, std::string* told) {
  const Node before = *nodes_[p];
  const std::optional<Point> at = point_of(before) ? std::optional(*point_of(before)) : std::nullopt;
  stop_waiting(p);
  Node& node = touch(p);
  switch (before.op) {
    case Op::agree: return hear(p, *at, knows_all, cut, told);
    case Op::settle: return feed(p, Settled{}, cut, told);
    case Op::found: return feed(p, Founded{}, cut, told);
    case Op::shrink: node.candidate = at->made; return feed(p, Shrunk{true, comms_.members_of(at->made)}, cut, told);
    case Op::meet: {
      node.meeting = at->made;
      const bool complete = comms_[at->made].members == comms_[before.base].members;
      return feed(p, MeetingEnded{complete}, cut, told);
    }
    case Op::split:
      if (node.core->planned_rank(ProcessId{static_cast<std::uint32_t>(p)})) node.candidate_application = at->made;
      return feed(p, SplitEnded{Making::done}, cut, told);
    case Op::connect: return feed(p, MeetingEnded{true}, cut, told);
    case Op::merge: node.joined = at->made; return feed(p, MeetingEnded{true}, cut, told);
    case Op::admit: return admitted(p, cut, told);
    case Op::exchange:
      if (node.is_first_half) return cut == 0 && go_on_in_body(p);
      return leave(p, agreement::Proposal::finish, ExitCode::ok, cut, told);
    case Op::save:
      saved_ = static_cast<Mask>(saved_ | node.data);
      return leave(p, agreement::Proposal::finish, ExitCode::ok, cut, told);
    case Op::park: return feed(p, Called{}, cut, told);
    case Op::start: return feed(p, NewcomerCalled{ProcessId{before.guest}}, cut, told);
    case Op::nothing: break;
  }
  return false;
}

template <class Rules>
bool System<Rules>::fail(std::size_t p, std::uint8_t cut, std::string* told) {
  const Node before = *nodes_[p];
  stop_waiting(p);
  switch (before.op) {
    case Op::start: return feed(p, NewcomerLost{before.guest != 0xff}, cut, told);
    case Op::shrink: return feed(p, Shrunk{false, {}}, cut, told);
    case Op::split: return feed(p, SplitEnded{Making::interrupted}, cut, told);
    case Op::exchange:
    case Op::save: return leave(p, agreement::Proposal::recover, ExitCode::ok, cut, told);
    default: return feed(p, MeetingEnded{false}, cut, told);
  }
}

template <class Rules>
bool System<Rules>::hear(std::size_t p, const Point& point, bool knows_all, std::uint8_t cut, std::string* told) {
  Node& node = touch(p);
  const agreement::Outcome outcome{point.value, point.died};
  if (node.restoring || node.core->state() == State::balloting) {
    const agreement::Proposal proposal = node.restoring ? agreement::Proposal::restore : node.proposal;
    const agreement::BallotResult result =
        agreement::Ballot(std::make_unique<FixedOutcome>(outcome), Rank{0}, 1).cast(proposal, true);
    if (result == agreement::BallotResult::recover || result == agreement::BallotResult::abandon) node.closed = result;
    if (node.restoring) return restored(p, result, point.data, cut, told);
    return feed(p, ballot_ended(p, result, knows_all), cut, told);
  }
  if (node.core->state() == State::deciding) {
    FixedOutcome stub(outcome);
    return feed(p, Decided{decide_job(stub, Intent::follow)}, cut, told);
  }
  return feed(p, Agreed{outcome}, cut, told);
}

template <class Rules>
bool System<Rules>::knows_fault(std::size_t p) const {
  const auto& seats = nodes_[p]->core->position().roster.seats;
  const bool has_died = std::ranges::any_of(seats, [&](const Seat& seat) { return !lives(seat.holder.process.value); });
  return scene_->faulty && has_died && (living_ & ((1U << p) - 1)) == 0;
}

template <class Rules>
BallotEnded System<Rules>::ballot_ended(std::size_t p, agreement::BallotResult result, bool knows_all) const {
  ProcessSet dead;
  const Mask known = knows_all ? all_dead() : nodes_[p]->noticed;
  for (std::uint32_t q = 0; q < nodes_.size(); ++q) {
    if (known >> q & 1U) dead.insert(ProcessId{q});
  }
  return {result, dead};
}

template <class Rules>
bool System<Rules>::restored(std::size_t p, agreement::BallotResult result, Mask there, std::uint8_t cut,
                             std::string* told) {
  Node& node = touch(p);
  if (result == agreement::BallotResult::abandon)
    return leave(p, agreement::Proposal::abandon, ExitCode::ok, cut, told);
  if (result == agreement::BallotResult::confused)
    return leave(p, agreement::Proposal::abandon, ExitCode::usage, cut, told);
  if (result != agreement::BallotResult::accepted)
    return leave(p, agreement::Proposal::recover, ExitCode::ok, cut, told);
  const Roster& roster = node.core->position().roster;
  Mask wanted = 0;
  for (const Seat& seat : roster.seats) wanted = static_cast<Mask>(wanted | 1U << seat.origin.value);
  if (wanted & ~there) {
    if (told) *told += fmt::format("  {} says that data is lost\n", p);
    if ((wanted & lost_) == 0) complaint_ = fmt::format("Data: {} says that data is lost, and it is there", p);
    return leave(p, agreement::Proposal::abandon, ExitCode::unrecoverable, cut, told);
  }
  node.restoring = false;
  const int rank = node.core->rank()->value;
  const int ring = roster.size();
  node.data = static_cast<Mask>(1U << roster.seat(Rank{rank}).origin.value |
                                1U << roster.seat(Rank{(rank + ring - 1) % ring}).origin.value);
  if (told) *told += fmt::format("  {} has its data\n", p);
  enter(p, node.application, Op::exchange, 0);
  return cut == 0;
}

template <class Rules>
bool System<Rules>::admitted(std::size_t p, std::uint8_t cut, std::string* told) {
  Node& node = touch(p);
  node.base = node.joined;
  node.joined = node.meeting = none;
  node.noticed = 0;
  const auto newcomer = comms_[node.base].order[comms_[node.base].size - 1U];
  if (newcomer == p) return feed(p, Begin{}, cut, told);
  node.guest = 0xff;
  return feed(p, Admitted{{ProcessId{newcomer}, NodeId{newcomer}}}, cut, told);
}

}  // namespace mend::recovery
