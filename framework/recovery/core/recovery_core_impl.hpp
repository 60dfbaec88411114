// The recovery core's rules. Included by recovery_core.cpp, and by tests that omit a rule.

#pragma once

#include "base/assert.hpp"
#include "framework/recovery/core/recovery_core.hpp"

#include <algorithm>
#include <utility>

namespace mend::recovery {

/// The contributions to the announcement of a newcomer: the processes other than the host contribute `whoever`; a host
/// without a newcomer contributes `nobody`, or `another_host` if another process may have one.
inline constexpr std::uint32_t whoever = 0x7fffffff;
inline constexpr std::uint32_t another_host = 0x7ffffffe;
inline constexpr std::uint32_t nobody = 0;

/// The policy of a job that ends: the remaining processes make smaller communicators to save their data.
inline Policy policy_for_saving() {
  Policy policy;
  policy.shrink = true;
  return policy;
}

template <class Rules>
BasicCore<Rules>::BasicCore(Setup setup, std::vector<ProcessId> launched, std::vector<Placed> introduced, int ranks)
    : setup_(std::move(setup)), introduced_(std::move(introduced)), first_ranks_(ranks), policy_(setup_.policy) {
  position_.processes = static_cast<std::uint32_t>(launched.size());
  position_.members = std::move(launched);
}

template <class Rules>
BasicCore<Rules>::BasicCore(Setup setup, Position position, Course course)
    : setup_(std::move(setup)), position_(std::move(position)), course_(std::move(course)), policy_(setup_.policy) {}

template <class Rules>
Actions BasicCore<Rules>::step(const Event& event) {
  Actions actions;
  if (state_ != State::ended) std::visit([&](const auto& what) { on(what, actions); }, event);
  return actions;
}

// --- an epoch -----------------------------------------------------------------------------------------------------

template <class Rules>
void BasicCore<Rules>::on(const Begin&, Actions& actions) {
  begin_round(actions);
}

template <class Rules>
void BasicCore<Rules>::on(const BodyLeft& left, Actions& actions) {
  const bool failed = left.proposal != agreement::Proposal::finish;
  if (failed && keeps(Rule::revoke_when_leaving)) interrupt(actions);
  code_ = left.code;
  progressed_ = left.progressed;
  committed_twice_ = left.committed_twice;
  state_ = State::balloting;
  actions.push_back(CastBallot{left.proposal});
}

template <class Rules>
void BasicCore<Rules>::on(const Called&, Actions& actions) {
  decide(Intent::follow, actions);
}

template <class Rules>
void BasicCore<Rules>::on(const BallotEnded& ended, Actions& actions) {
  using agreement::BallotResult;
  if (ended.result == BallotResult::confused) {
    code_ = ExitCode::usage;
    actions.push_back(CastBallot{agreement::Proposal::abandon});
    return;
  }
  const bool is_over = ended.result == BallotResult::accepted || ended.result == BallotResult::abandon;
  if (!is_over) interrupt(actions);
  if (keeps(Rule::call_spares)) call_spares(ended.known_dead, actions);
  if (is_over && saving_) code_ = ExitCode::unrecoverable;
  const bool abandons = ended.result == BallotResult::abandon || (is_over && saving_);
  decide(abandons ? Intent::abandon : is_over ? Intent::finish : Intent::recover, actions);
}

/// The runtime reports deaths to the spares, but neither the end of the job nor an interruption without a death. One
/// rank is enough to call them: if it dies, its death wakes them.
template <class Rules>
void BasicCore<Rules>::call_spares(const ProcessSet& known_dead, Actions& actions) {
  const auto& seats = position_.roster.seats;
  const auto first =
      std::ranges::find_if(seats, [&](const Seat& seat) { return !known_dead.contains(seat.holder.process); });
  if (first == seats.end() || first->holder.process != setup_.self || position_.roster.spares.empty()) return;
  actions.push_back(CallSpares{position_.epoch});
}

template <class Rules>
void BasicCore<Rules>::decide(Intent intent, Actions& actions) {
  state_ = State::deciding;
  const ExitCode code = intent == Intent::abandon ? code_ : ExitCode::ok;
  actions.push_back(DecideJob{intent, code, progressed_, committed_twice_});
}

template <class Rules>
void BasicCore<Rules>::on(const Decided& decided, Actions& actions) {
  const JobDecision& decision = decided.decision;
  if (decision.what == Intent::recover) return begin_recovery(decision, actions);
  if (decision.what == Intent::finish) return end(ExitCode::ok, Ending::finished, actions);
  end(decision.code, saving_ ? ending_without_processes() : Ending::abandoned, actions);
}

template <class Rules>
void BasicCore<Rules>::interrupt(Actions& actions) {
  if (!rank_ || std::exchange(interrupted_, true)) return;
  actions.push_back(Revoke{What::application});
}

// --- a round --------------------------------------------------------------------------------------------------------

template <class Rules>
void BasicCore<Rules>::begin_recovery(const JobDecision& decision, Actions& actions) {
  held_rank_ = rank_.has_value();
  if (!saving_) {
    const int without_commit = decision.progressed ? 1 : course_.without_commit + 1;
    const bool follows = !decision.committed_twice && !course_.before.seats.empty();
    course_ = Course{position_.roster, {}, without_commit, 0, {}, decision.in_vain, follows ? row() : Row{}, {}, {}};
    policy_ = setup_.policy;
    if (course_.in_vain) policy_.spare = policy_.spawn = false;
  }
  failed_shrinks_ = 0;
  begin_round(actions);
}

template <class Rules>
void BasicCore<Rules>::begin_round(Actions& actions) {
  if (out_of_tries()) policy_.spawn = false;  // the failure is likely to recur
  ++course_.rounds;
  candidate_.clear();
  plan_.reset();
  actions.push_back(NewCandidate{});
  state_ = State::settling;
  if (!keeps(Rule::settle_before_shrinking)) return shrink(actions);
  actions.push_back(Settle{});
}

template <class Rules>
void BasicCore<Rules>::on(const Settled&, Actions& actions) {
  switch (state_) {
    case State::settling: return shrink(actions);
    case State::gathering: actions.push_back(Meet{}); return;
    default: break;
  }
  state_ = State::ended;
  actions.push_back(end_);
}

template <class Rules>
void BasicCore<Rules>::shrink(Actions& actions) {
  state_ = State::shrinking;
  actions.push_back(Shrink{});
}

template <class Rules>
void BasicCore<Rules>::on(const Shrunk& shrunk, Actions& actions) {
  candidate_ = shrunk.members;
  if (!keeps(Rule::agree_on_shrinking)) return count(shrunk.succeeded, actions);
  agree(State::counting, Among::base, shrunk.succeeded ? 1 : 0, actions);
}

template <class Rules>
void BasicCore<Rules>::agree(State next, Among among, std::uint32_t contribution, Actions& actions) {
  state_ = next;
  actions.push_back(Agree{among, contribution});
}

template <class Rules>
void BasicCore<Rules>::on(const Agreed& agreed, Actions& actions) {
  switch (state_) {
    case State::counting: return count((agreed.outcome.value & 1U) != 0, actions);
    case State::confirming: return confirm(agreed.outcome, actions);
    case State::announcing: return announced(agreed.outcome, actions);
    default: return meeting_agreed(agreed.outcome, actions);
  }
}

/// Only deaths can make shrinking fail, so more failures than members have another cause.
template <class Rules>
void BasicCore<Rules>::count(bool all_have_one, Actions& actions) {
  if (all_have_one) return make_plan(actions);
  if (++failed_shrinks_ > position_.members.size()) return end(ExitCode::unrecoverable, Ending::no_shrink, actions);
  begin_round(actions);
}

template <class Rules>
void BasicCore<Rules>::make_plan(Actions& actions) {
  if (first_epoch()) {
    std::vector<Placed> living;
    std::ranges::copy_if(introduced_, std::back_inserter(living), [&](const Placed& placed) {
      return std::ranges::find(candidate_, placed.process) != candidate_.end();
    });
    plan_ = first_assignment(living, first_ranks_, setup_.spare_nodes, setup_.placement);
    if (policy_.gives_up_ranks()) plan_->vacant.clear();
  } else {
    ProcessSet dead = course_.dead;
    dead.insert(difference(ProcessSet::of(position_.members), ProcessSet::of(candidate_)));
    if (course_.row_with(dead).length > setup_.spawn_tries) policy_.spawn = false;
    plan_ = assign_ranks(position_.roster, position_.roster.absent(candidate_), policy_);
  }
  broken_ = false;
  if (!plan_->complete())
    return agree(State::confirming, Among::candidate, static_cast<std::uint32_t>(Making::done), actions);
  state_ = State::splitting;
  actions.push_back(Split{plan_->roster.rank_of(setup_.self)});
}

template <class Rules>
void BasicCore<Rules>::on(const SplitEnded& ended, Actions& actions) {
  broken_ = ended.how == Making::broken;
  if (ended.how != Making::done && keeps(Rule::revoke_failed_candidates)) actions.push_back(Revoke{What::candidate});
  if (!keeps(Rule::agree_on_splitting)) {
    state_ = State::confirming;
    return confirm({static_cast<std::uint32_t>(ended.how), false}, actions);
  }
  agree(State::confirming, Among::candidate, static_cast<std::uint32_t>(ended.how), actions);
}

template <class Rules>
void BasicCore<Rules>::confirm(const agreement::Outcome& outcome, Actions& actions) {
  if (outcome.somebody_died || outcome.value == static_cast<std::uint32_t>(Making::interrupted))
    return begin_round(actions);
  if (outcome.value == static_cast<std::uint32_t>(Making::done)) return adopt(actions);
  if (outcome.value == static_cast<std::uint32_t>(Making::broken))
    return end(ExitCode::unrecoverable, Ending::no_split, actions);
  if (!broken_ || !keeps(Rule::broken_ends_some)) return begin_round(actions);
  state_ = State::ended;
  actions.push_back(Die{});
}

template <class Rules>
void BasicCore<Rules>::adopt(Actions& actions) {
  course_.dead.insert(difference(ProcessSet::of(position_.members), ProcessSet::of(candidate_)));
  require(first_epoch() || plan_->roster.seats.size() + plan_->given_up.size() == position_.roster.seats.size(),
          "each rank is held, vacant or given up after a recovery");
  position_.members = std::exchange(candidate_, {});
  position_.roster = std::move(plan_->roster);
  if (!saving_) course_.given_up = std::move(plan_->given_up);
  const bool complete = plan_->vacant.empty();
  plan_.reset();
  actions.push_back(AdoptCandidate{complete});
  if (first_epoch() && complete) {
    state_ = State::founding;
    actions.push_back(Found{});
    return;
  }
  complete ? go_on(actions) : descend_ladder(actions);
}

template <class Rules>
void BasicCore<Rules>::on(const Founded&, Actions& actions) {
  introduced_.clear();
  enter_epoch(actions);
}

template <class Rules>
void BasicCore<Rules>::go_on(Actions& actions) {
  position_.epoch = position_.epoch.next();
  const bool nothing_explains_it = course_.dead.empty() && (out_of_tries() || goes_in_circles()) && !saving_;
  if (nothing_explains_it) return end(ExitCode::failed, Ending::program_fails, actions);
  enter_epoch(actions);
}

template <class Rules>
void BasicCore<Rules>::enter_epoch(Actions& actions) {
  const bool first = position_.epoch == Epoch{0};
  rank_ = position_.roster.rank_of(setup_.self);
  interrupted_ = false;
  progressed_ = committed_twice_ = false;
  code_ = ExitCode::ok;
  if (!rank_) {
    state_ = State::parked;
    actions.push_back(Park{});
  } else if (saving_) {
    state_ = State::saving;
    actions.push_back(SaveWhatIsLeft{});
  } else {
    state_ = State::playing;
    const bool has_data = held_rank_ && keeps(Rule::survivors_keep_data);
    actions.push_back(EnterBody{*rank_, !first && !has_data});
  }
}

/// Ranks are vacant: takes the next means of the policy, or ends the job.
template <class Rules>
void BasicCore<Rules>::descend_ladder(Actions& actions) {
  if (policy_.spawn && !first_epoch()) {
    judge_host();
    return someone_can_host() ? recruit(actions) : try_without_newcomer(actions);
  }
  if (!setup_.disk || first_epoch() || !keeps(Rule::save_before_ending))
    return end(ExitCode::unrecoverable, ending_without_processes(), actions);
  saving_ = true;
  policy_ = policy_for_saving();
  failed_shrinks_ = 0;
  begin_round(actions);
}

/// Ends the job. Processes that have returned from an agreement answer those that still wait in it, until all have
/// returned.
template <class Rules>
void BasicCore<Rules>::end(ExitCode code, Ending why, Actions& actions) {
  end_ = {code, why};
  if (!keeps(Rule::settle_before_ending)) {
    state_ = State::ended;
    actions.push_back(end_);
    return;
  }
  state_ = State::closing;
  actions.push_back(Settle{});
}

// --- a newcomer -----------------------------------------------------------------------------------------------------

template <class Rules>
bool BasicCore<Rules>::someone_can_host() const {
  return course_.unable.size() < most_hosts &&
         std::ranges::any_of(position_.members, [&](ProcessId member) { return !course_.unable.contains(member); });
}

/// Replaces the host if too many newcomers have died: the cause may be the host or its machine.
template <class Rules>
void BasicCore<Rules>::judge_host() {
  const ProcessSet lost = difference(course_.started, ProcessSet::of(position_.members));
  if (lost.size() >= most_lost_newcomers && keeps(Rule::ask_another_host)) exclude_host();
}

template <class Rules>
void BasicCore<Rules>::exclude_host() {
  course_.unable.insert(host());
  course_.started.clear();
}

template <class Rules>
void BasicCore<Rules>::recruit(Actions& actions) {
  hosting_ = host() == setup_.self;
  if (!hosting_) return agree(State::announcing, Among::base, whoever, actions);
  state_ = State::finding;
  actions.push_back(StartProcess{});
}

template <class Rules>
void BasicCore<Rules>::on(const NewcomerCalled& called, Actions& actions) {
  agree(State::announcing, Among::base, called.newcomer.value, actions);
}

template <class Rules>
void BasicCore<Rules>::on(const NewcomerLost& lost, Actions& actions) {
  if (!keeps(Rule::agree_on_the_newcomer)) return try_without_newcomer(actions);
  const bool hands_over = lost.others_may_try && keeps(Rule::ask_another_host);
  agree(State::announcing, Among::base, hands_over ? another_host : nobody, actions);
}

template <class Rules>
void BasicCore<Rules>::try_without_newcomer(Actions& actions) {
  policy_.spawn = false;
  failed_shrinks_ = 0;
  begin_round(actions);
}

/// The newcomer's number is never given again: if it is not admitted, some processes may have learned that it died.
template <class Rules>
void BasicCore<Rules>::announced(const agreement::Outcome& outcome, Actions& actions) {
  failed_shrinks_ = 0;
  if (outcome.value == another_host) exclude_host();
  if (outcome.value != nobody && outcome.value < another_host) {
    position_.processes = std::max(position_.processes, outcome.value + 1);
    course_.started.insert(ProcessId{outcome.value});
  }
  if (outcome.somebody_died || outcome.value == another_host) return begin_round(actions);
  if (outcome.value == nobody) return try_without_newcomer(actions);
  state_ = State::gathering;
  actions.push_back(Settle{});
}

template <class Rules>
void BasicCore<Rules>::on(const MeetingEnded& ended, Actions& actions) {
  if (!ended.succeeded && keeps(Rule::revoke_failed_meetings)) actions.push_back(Revoke{What::meeting});
  const State next = state_ == State::gathering    ? State::gathered
                     : state_ == State::connecting ? State::connected
                                                   : State::merged;
  const bool agrees = (next == State::connected && keeps(Rule::agree_on_connecting)) ||
                      (next == State::merged && keeps(Rule::agree_on_merging)) || next == State::gathered;
  if (agrees) return agree(next, Among::base, ended.succeeded ? 1 : 0, actions);
  state_ = next;
  meeting_agreed({ended.succeeded ? 1U : 0U, false}, actions);
}

template <class Rules>
void BasicCore<Rules>::meeting_agreed(const agreement::Outcome& outcome, Actions& actions) {
  if (outcome.somebody_died || outcome.value != 1) return begin_round(actions);
  switch (state_) {
    case State::gathered:
      state_ = State::connecting;
      actions.push_back(Connect{hosting_});
      return;
    case State::connected:
      state_ = State::merging;
      actions.push_back(Merge{hosting_});
      return;
    default: break;
  }
  state_ = State::admitting;
  actions.push_back(Admit{hosting_});
}

template <class Rules>
void BasicCore<Rules>::on(const Admitted& admitted, Actions& actions) {
  position_.members.push_back(admitted.newcomer.process);
  position_.roster.spares.push_back(admitted.newcomer);
  begin_round(actions);
}

// --- at any time ----------------------------------------------------------------------------------------------------

template <class Rules>
bool BasicCore<Rules>::in_epoch() const {
  return state_ == State::playing || state_ == State::balloting || state_ == State::deciding || state_ == State::saving;
}

template <class Rules>
bool BasicCore<Rules>::in_round() const {
  return state_ >= State::settling && state_ <= State::confirming;
}

template <class Rules>
bool BasicCore<Rules>::meets() const {
  return state_ >= State::gathering && state_ <= State::merged;
}

template <class Rules>
void BasicCore<Rules>::on(const FailureNoticed&, Actions& actions) {
  if (in_epoch()) interrupt(actions);
}

/// Processes that have returned from the agreement in which this process waits do not answer where they wait now, so
/// they are interrupted.
template <class Rules>
void BasicCore<Rules>::on(const ProcessDied& died, Actions& actions) {
  if (in_epoch()) {
    const bool matters = position_.roster.rank_of(died.process).has_value();
    if (matters && keeps(Rule::revoke_when_waiting)) interrupt(actions);
  } else if (in_round()) {
    const bool has_candidate = !candidate_.empty();
    const bool is_late_news = has_candidate && std::ranges::find(candidate_, died.process) == candidate_.end();
    if (is_late_news) return;
    if (has_candidate && keeps(Rule::revoke_what_some_may_have)) actions.push_back(Revoke{What::candidate});
    if (!first_epoch() && keeps(Rule::call_spares_back))
      actions.push_back(CallSpares{position_.epoch.next(), died.process});
  } else if (meets()) {
    actions.push_back(Revoke{What::meeting});
  }
}

/// Handles an error that only this process has. The wait of the others must end: by a contribution to the next
/// agreement if the call before it can be revoked, otherwise by the death of this process.
template <class Rules>
void BasicCore<Rules>::on(const LocalError&, Actions& actions) {
  switch (state_) {
    case State::splitting: return on(SplitEnded{Making::broken}, actions);
    case State::finding: return on(NewcomerLost{true}, actions);
    case State::connecting:
    case State::merging: return on(MeetingEnded{false}, actions);
    default: break;
  }
  state_ = State::ended;
  if (keeps(Rule::errors_end_one)) {
    actions.push_back(Die{});
  } else {
    actions.push_back(End{ExitCode::unrecoverable, Ending::abandoned});
  }
}

// --- for tests ------------------------------------------------------------------------------------------------------

inline void add_to(transport::Fingerprint& print, const std::vector<ProcessId>& processes) {
  print.add(processes.size());
  for (const ProcessId process : processes) print.add(process.value);
}

inline void add_to(transport::Fingerprint& print, const Roster& roster) {
  print.add(roster.seats.size());
  for (const Seat& seat : roster.seats) {
    print.add(seat.holder.process.value);
    print.add(static_cast<std::uint64_t>(seat.origin.value));
  }
  for (const Placed& spare : roster.spares) print.add(spare.process.value);
}

/// Adds all state on which the core's next actions depend.
template <class Rules>
void BasicCore<Rules>::add_to(transport::Fingerprint& print) const {
  print.add(static_cast<std::uint64_t>(state_));
  recovery::add_to(print, position_.members);
  recovery::add_to(print, position_.roster);
  print.add(position_.epoch.value);
  print.add(position_.processes);
  print.add(introduced_.size());
  print.add(rank_ ? static_cast<std::uint64_t>(rank_->value) : ~std::uint64_t{0});
  print.add(static_cast<std::uint64_t>(code_) | std::uint64_t{held_rank_} << 8U | std::uint64_t{interrupted_} << 9U |
            std::uint64_t{progressed_} << 10U | std::uint64_t{saving_} << 11U | std::uint64_t{hosting_} << 12U |
            std::uint64_t{policy_.spawn} << 13U | std::uint64_t{policy_.shrink} << 14U |
            std::uint64_t{policy_.spare} << 15U | std::uint64_t{course_.in_vain} << 16U |
            std::uint64_t{committed_twice_} << 17U);
  print.add(static_cast<std::uint64_t>(course_.without_commit));
  print.add(static_cast<std::uint64_t>(course_.row.length));
  for (const Rank rank : course_.row.ranks) print.add(static_cast<std::uint64_t>(rank.value));
  print.add(course_.dead.size());
  recovery::add_to(print, course_.unable.members());
  recovery::add_to(print, course_.started.members());
  print.add(failed_shrinks_);
  recovery::add_to(print, candidate_);
  print.add(static_cast<std::uint64_t>(end_.code) | static_cast<std::uint64_t>(end_.why) << 8U);
}

}  // namespace mend::recovery
