#include "framework/recovery/core/recovery_core_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

namespace mend::recovery {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

const char* name_of(Making making) {
  switch (making) {
    case Making::done: return "done";
    case Making::interrupted: return "interrupted";
    case Making::broken: return "broken";
  }
  return "?";
}

const char* name_of(Intent intent) {
  switch (intent) {
    case Intent::finish: return "finish";
    case Intent::recover: return "recover";
    case Intent::abandon: return "abandon";
    case Intent::follow: return "follow";
  }
  return "?";
}

const char* name_of(agreement::BallotResult result) {
  switch (result) {
    case agreement::BallotResult::accepted: return "accepted";
    case agreement::BallotResult::rejected: return "rejected";
    case agreement::BallotResult::recover: return "recover";
    case agreement::BallotResult::abandon: return "abandon";
    case agreement::BallotResult::confused: return "confused";
  }
  return "?";
}

const char* name_of(What what) {
  switch (what) {
    case What::application: return "application";
    case What::candidate: return "candidate";
    case What::meeting: return "meeting";
  }
  return "?";
}

const char* name_of(Ending why) {
  switch (why) {
    case Ending::finished: return "finished";
    case Ending::abandoned: return "abandoned";
    case Ending::no_shrink: return "the library cannot shrink";
    case Ending::no_split: return "the library cannot split";
    case Ending::program_fails: return "the program fails by itself";
    case Ending::nobody_left: return "nobody is left for a rank";
    case Ending::rank_fails: return "a rank fails again and again";
  }
  return "?";
}

const char* succeeded(bool yes) { return yes ? "ok" : "failed"; }

}  // namespace

std::string to_string(const Event& event) {
  return std::visit(
      Overloaded{
          [](const Begin&) { return std::string("begins"); },
          [](const BodyLeft& left) { return fmt::format("leaves the body for {}", agreement::name_of(left.proposal)); },
          [](const Called&) { return std::string("is called"); },
          [](const BallotEnded& ended) { return fmt::format("hears the ballot: {}", name_of(ended.result)); },
          [](const Decided& decided) {
            return fmt::format("hears the decision: {}{}", name_of(decided.decision.what),
                               decided.decision.in_vain ? ", in vain" : "");
          },
          [](const Settled&) { return std::string("has settled"); },
          [](const Shrunk& shrunk) { return fmt::format("has shrunk: {}", succeeded(shrunk.succeeded)); },
          [](const Agreed& agreed) {
            return fmt::format("hears the agreement: {}{}", agreed.outcome.value,
                               agreed.outcome.somebody_died ? ", somebody died" : "");
          },
          [](const SplitEnded& ended) { return fmt::format("has split: {}", name_of(ended.how)); },
          [](const Founded&) { return std::string("has founded"); },
          [](const NewcomerCalled& called) { return fmt::format("is called by newcomer {}", called.newcomer.value); },
          [](const NewcomerLost& lost) {
            return std::string(lost.others_may_try ? "cannot get a newcomer" : "gets no newcomer");
          },
          [](const MeetingEnded& ended) { return fmt::format("has met: {}", succeeded(ended.succeeded)); },
          [](const Admitted& admitted) { return fmt::format("has admitted {}", admitted.newcomer.process.value); },
          [](const ProcessDied& died) { return fmt::format("learns that {} has died", died.process.value); },
          [](const FailureNoticed&) { return std::string("notices a failure"); },
          [](const LocalError&) { return std::string("has an error of its own"); },
      },
      event);
}

std::string to_string(const Action& action) {
  return std::visit(
      Overloaded{
          [](const Revoke& revoke) { return fmt::format("revoke {}", name_of(revoke.what)); },
          [](const CallSpares& call) {
            const auto why = call.because_of ? fmt::format(" that have {}", call.because_of->value) : std::string();
            return fmt::format("call spares of epoch {}{}", call.epoch.value, why);
          },
          [](const CastBallot& cast) { return fmt::format("cast a ballot: {}", agreement::name_of(cast.proposal)); },
          [](const DecideJob& decide) { return fmt::format("decide with everyone: {}", name_of(decide.intent)); },
          [](const NewCandidate&) { return std::string("new candidate"); },
          [](const Settle&) { return std::string("settle"); },
          [](const Shrink&) { return std::string("shrink"); },
          [](const Agree& agree) {
            return fmt::format("agree among {}: {}", agree.among == Among::base ? "base" : "candidate",
                               agree.contribution);
          },
          [](const Split& split) {
            return split.rank ? fmt::format("split as rank {}", split.rank->value) : std::string("split as spare");
          },
          [](const AdoptCandidate&) { return std::string("adopt"); },
          [](const Found&) { return std::string("found agreements"); },
          [](const StartProcess&) { return std::string("start a process"); },
          [](const Meet&) { return std::string("meet"); },
          [](const Connect& connect) { return std::string(connect.hosting ? "connect as host" : "connect"); },
          [](const Merge&) { return std::string("merge"); },
          [](const Admit&) { return std::string("admit"); },
          [](const EnterBody& enter) {
            return fmt::format("enter the body as rank {}{}", enter.rank.value, enter.newcomer ? ", newcomer" : "");
          },
          [](const Park&) { return std::string("park"); },
          [](const SaveWhatIsLeft&) { return std::string("save what is left"); },
          [](const End& end) { return fmt::format("end with {}: {}", static_cast<int>(end.code), name_of(end.why)); },
          [](const Die&) { return std::string("die alone"); },
      },
      action);
}

std::string to_string(State state) {
  switch (state) {
    case State::unborn: return "unborn";
    case State::playing: return "playing";
    case State::parked: return "parked";
    case State::balloting: return "balloting";
    case State::deciding: return "deciding";
    case State::closing: return "closing";
    case State::settling: return "settling";
    case State::shrinking: return "shrinking";
    case State::counting: return "counting";
    case State::splitting: return "splitting";
    case State::confirming: return "confirming";
    case State::founding: return "founding";
    case State::finding: return "finding";
    case State::announcing: return "announcing";
    case State::gathering: return "gathering";
    case State::gathered: return "gathered";
    case State::connecting: return "connecting";
    case State::connected: return "connected";
    case State::merging: return "merging";
    case State::merged: return "merged";
    case State::admitting: return "admitting";
    case State::saving: return "saving";
    case State::ended: return "ended";
  }
  return "?";
}

ProcessId host_of(const Roster& roster, const std::vector<ProcessId>& members, std::span<const NodeId> places,
                  const ProcessSet& unable) {
  std::map<ProcessId, NodeId> node_of;
  for (const Seat& seat : roster.seats) node_of[seat.holder.process] = seat.holder.node;
  for (const Placed& spare : roster.spares) node_of[spare.process] = spare.node;
  std::map<NodeId, int> count;
  for (const ProcessId member : members) ++count[node_of[member]];

  std::vector<ProcessId> able;
  std::set<NodeId> failing;
  for (const ProcessId member : members)
    unable.contains(member) ? void(failing.insert(node_of[member])) : able.push_back(member);
  const auto is_elsewhere = [&](ProcessId member) { return !failing.contains(node_of[member]); };
  if (std::ranges::any_of(able, is_elsewhere)) std::erase_if(able, std::not_fn(is_elsewhere));
  require(!able.empty(), "a member can host");

  const auto first_on = [&](NodeId node) {
    return std::ranges::find_if(able, [&](ProcessId member) { return node_of[member] == node; });
  };
  for (const NodeId place : places) {
    if (const auto there = first_on(place); there != able.end()) return *there;
  }
  const ProcessSet absent = roster.absent(members);
  const auto vacant =
      std::ranges::find_if(roster.seats, [&](const Seat& seat) { return absent.contains(seat.holder.process); });
  if (vacant != roster.seats.end()) {
    if (const auto near = first_on(vacant->holder.node); near != able.end()) return *near;
  }
  return *std::ranges::min_element(able, {}, [&](ProcessId member) { return count[node_of[member]]; });
}

bool Position::has(ProcessId process) const { return std::ranges::find(members, process) != members.end(); }

bool Position::heeds(const CallSpares& call) const {
  return call.epoch >= epoch && (!call.because_of || has(*call.because_of));
}

Row Row::with(const std::vector<Rank>& lost) const {
  const bool is_first = length == 0;
  if (is_first || ranks.empty() != lost.empty()) return {1, lost};
  std::vector<Rank> common;
  std::ranges::copy_if(ranks, std::back_inserter(common),
                       [&](Rank rank) { return std::ranges::find(lost, rank) != lost.end(); });
  if (common.empty() && !lost.empty()) return {1, lost};
  return {length + 1, common};
}

Row Course::row_with(const ProcessSet& all_dead) const {
  std::vector<Rank> lost;
  for (const Seat& seat : before.seats) {
    if (all_dead.contains(seat.holder.process)) lost.push_back(seat.origin);
  }
  return row.with(lost);
}

template class BasicCore<AllRules>;

}  // namespace mend::recovery
