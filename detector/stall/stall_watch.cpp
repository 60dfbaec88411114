#include "detector/stall/stall_watch.hpp"

#include "detector/stall/stuck_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mend::detector {
namespace {

using Kind = StallMessage::Kind;
using std::chrono::milliseconds;

/// Returns the first time after `waited` among `limit`, twice that, four times that, and so on.
Time doubled_past(Time waited, Time limit) {
  if (limit == Time{0}) return never;
  Time next = limit;
  while (next <= waited) next *= 2;
  return next;
}

}  // namespace

void StallWatch::enter(ProcessSet members) {
  if (ending_ != Ending::no) return;
  members_ = std::move(members);
  dead_.clear();
  struck_.clear();
  inquiry_.reset();
}

void StallWatch::died(const ProcessSet& gone) {
  dead_.insert(gone);
  for (const ProcessId process : gone.members()) {
    members_.erase(process);
    if (inquiry_) inquiry_->answers.erase(process);
  }
}

Time StallWatch::next_deadline() const {
  if (is_off()) return never;
  constexpr Time shortest = milliseconds(20);
  const Time limit = std::min(shortest_limit(), Time(std::chrono::seconds(8)));
  const bool is_busy = inquiry_ || ask_at_ || ending_ != Ending::no;
  return ticked_ + (is_busy ? shortest : std::max(limit / 8, shortest));
}

Time StallWatch::first_report_after(Time waited) const {
  return std::min(doubled_past(waited, limits_.told), doubled_past(waited, limits_.ended));
}

/// Returns the shortest of the limits that are set.
Time StallWatch::shortest_limit() const {
  return std::min(first_report_after(Time{0}), limits_.stuck == Time{0} ? never : limits_.stuck);
}

Time StallWatch::first_quiet_report_after(Time waited) const {
  return std::min(doubled_past(waited, quiet_factor * limits_.told), doubled_past(waited, limits_.ended));
}

void StallWatch::tick(Time now, const Whereabouts& own, StallActions& actions) {
  ticked_ = now;
  if (is_off() || !members_.contains(self_)) return;
  if (ending_ != Ending::no) return go_on_ending(now, actions);
  report_own_wait(now, own, actions);
  if (ask_at_ && now >= *ask_at_ && !inquiry_) ask_everybody(now, own, actions);
  if (inquiry_) conclude(now, actions);
}

/// Returns true if this process has waited for so long that it must report to the coordinator.
bool StallWatch::has_to_report(const Whereabouts& own) {
  // The others may be held a little later, so the report is repeated.
  const Time held = own.has_gone_back ? std::max(own.held, own.polled) : own.held;
  if (held == Time{0} || limits_.stuck == Time{0}) {
    report_stuck_after_ = limits_.stuck;
  } else if (held >= report_stuck_after_) {
    report_stuck_after_ = held + limits_.stuck / 4;
    return true;
  }
  const bool is_in_body = own.rank && own.place == Place::none;
  if (!waits_as_rank(own) && !is_in_body) return false;
  const auto next_after = [&](Time waited) {
    return is_in_body ? first_quiet_report_after(waited) : first_report_after(waited);
  };
  if (std::exchange(visit_, own.visit) != own.visit) report_after_ = next_after(Time{0});
  if (own.waited < report_after_) return false;
  report_after_ = next_after(own.waited);
  return true;
}

void StallWatch::report_own_wait(Time now, const Whereabouts& own, StallActions& actions) {
  if (!has_to_report(own)) return;
  const StallMessage report{Kind::report, 0, {}};
  if (coordinator() == self_) return receive(self_, report, now, own, actions);
  actions.sends.push_back({coordinator(), report});
}

void StallWatch::receive(ProcessId from, const StallMessage& message, Time now, const Whereabouts& own,
                         StallActions& actions) {
  switch (message.kind) {
    case Kind::report: {
      const Time pause = std::min(shortest_limit() / 4, patience);
      if (!ask_at_) ask_at_ = asked_at_ == Time{0} ? now : std::max(now, asked_at_ + pause);
      break;
    }
    case Kind::question: actions.sends.push_back({from, {Kind::answer, message.round, own}}); break;
    case Kind::answer: {
      if (!inquiry_ || message.round != round_) break;
      const auto asked = inquiry_->answers.find(from);
      if (asked != inquiry_->answers.end()) asked->second = message.where;
      conclude(now, actions);
      break;
    }
    case Kind::stacks:
      if (ending_ != Ending::no) break;
      ending_ = Ending::shows_stacks;
      ended_by_ = from;
      end_deadline_ = now + 2 * most_time_for_stacks;
      actions.show_stack = true;
      break;
    case Kind::done: done_.insert(from); break;
    case Kind::leave: actions.leave = true; break;
    case Kind::go_back: actions.go_back = true; break;
  }
}

void StallWatch::ask_everybody(Time now, const Whereabouts& own, StallActions& actions) {
  ask_at_.reset();
  asked_at_ = now;
  ++round_;
  inquiry_ = Inquiry{{}, now + patience};
  for (const ProcessId member : members_.members()) inquiry_->answers[member] = std::nullopt;
  inquiry_->answers[self_] = own;
  for (const ProcessId member : members_.members()) {
    if (member != self_) actions.sends.push_back({member, {Kind::question, round_, {}}});
  }
}

void StallWatch::conclude(Time now, StallActions& actions) {
  const auto has_answered = [](const auto& answer) { return answer.second.has_value(); };
  if (now < inquiry_->deadline && !std::ranges::all_of(inquiry_->answers, has_answered)) return;
  const Answers answers = std::exchange(inquiry_, std::nullopt)->answers;
  if (strike(answers, actions) || send_back(answers, actions)) return;
  const auto longest = find_longest_wait(answers);
  if (!longest) return conclude_quiet(answers, now, actions);
  const std::string sentence = describe_stall(answers, dead_);
  if (limits_.ended != Time{0} && longest->where.waited >= limits_.ended) {
    actions.end_sentence =
        fmt::format("the job ends because ranks wait for longer than {:g} s (--mend-stall-limit): {}",
                    Seconds(limits_.ended).count(),
                    sentence.empty() ? fmt::format("all are {}", describe(longest->where.place)) : sentence);
    return begin_end(now, actions);
  }
  const auto told = told_ ? answers.find(told_->process) : answers.end();
  const bool is_told = told != answers.end() && told->second && waits_as_rank(*told->second) &&
                       told->second->visit == told_->where.visit;
  // The process reports again after twice the time.
  const Time tell_after = is_told ? Time(told_->where.waited) * 3 / 2 : limits_.told;
  if (sentence.empty() || limits_.told == Time{0} || longest->where.waited < tell_after) return;
  told_ = longest;
  actions.warning = sentence;
}

/// Declares a process dead if one is stuck. Does so once for each process, because the report of its death arrives
/// later.
bool StallWatch::strike(const Answers& answers, StallActions& actions) {
  if (limits_.stuck == Time{0}) return false;
  const auto stuck = find_stuck(answers, std::chrono::ceil<milliseconds>(limits_.stuck));
  if (!stuck || !struck_.insert(*stuck)) return false;
  actions.warning = describe_stuck(*stuck, *answers.at(*stuck));
  actions.stuck = stuck;
  return true;
}

/// Makes all ranks roll back if they wait in vain. Repeats that until they move.
bool StallWatch::send_back(const Answers& answers, StallActions& actions) const {
  if (limits_.stuck == Time{0}) return false;
  const auto process = find_wait_in_vain(answers, std::chrono::ceil<milliseconds>(limits_.stuck));
  if (process == self_) {
    actions.go_back = true;
  } else if (process) {
    actions.sends.push_back({*process, {Kind::go_back, 0, {}}});
  }
  return process.has_value();
}

void StallWatch::conclude_quiet(const Answers& answers, Time now, StallActions& actions) {
  const auto quiet = find_quiet(answers);
  if (!quiet) return;
  if (limits_.ended != Time{0} && *quiet >= limits_.ended && are_all_in_mpi(answers)) {
    actions.end_sentence =
        fmt::format("the job ends because ranks wait for longer than {:g} s (--mend-stall-limit): {}",
                    Seconds(limits_.ended).count(), describe_quiet(answers, *quiet));
    return begin_end(now, actions);
  }
  if (limits_.told == Time{0} || *quiet < std::max(quiet_factor * limits_.told, 2 * told_quiet_)) return;
  told_quiet_ = *quiet;
  actions.warning = describe_quiet(answers, *quiet);
}

// --- the end of the job ----------------------------------------------------------------------------------------

void StallWatch::begin_end(Time now, StallActions& actions) {
  ending_ = Ending::shows_stacks;
  ended_by_ = self_;
  end_deadline_ = now + most_time_for_stacks;
  actions.show_stack = true;
  send_all(Kind::stacks, actions);
}

void StallWatch::stack_shown(StallActions& actions) {
  done_.insert(self_);
  if (ended_by_ != self_) actions.sends.push_back({ended_by_, {Kind::done, 0, {}}});
}

/// If the process that should tell this one to leave is gone, this one leaves by itself.
void StallWatch::go_on_ending(Time now, StallActions& actions) {
  const bool is_late = now >= end_deadline_;
  if (ended_by_ != self_) {
    actions.leave = is_late;
  } else if (ending_ == Ending::shows_stacks && (is_late || done_.contains(members_))) {
    ending_ = Ending::leaves;
    end_deadline_ = now + patience;
    send_all(Kind::leave, actions);
  } else if (ending_ == Ending::leaves) {
    actions.leave = is_late || members_ == ProcessSet{self_};
  }
}

void StallWatch::send_all(Kind kind, StallActions& actions) const {
  for (const ProcessId member : members_.members()) {
    if (member != self_) actions.sends.push_back({member, {kind, 0, {}}});
  }
}

}  // namespace mend::detector
