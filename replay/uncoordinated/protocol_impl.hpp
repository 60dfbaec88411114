// The rules of the replay protocol. Included by protocol.cpp, and by tests that leave a rule out. The numbers in
// comments are lines of the paper's figures.

#pragma once

#include "base/assert.hpp"
#include "replay/uncoordinated/protocol.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mend::replay {

template <class Rules>
BasicReplay<Rules>::BasicReplay(Setup setup, Rank self) : setup_(std::move(setup)), self_(self) {
  const auto me = static_cast<std::size_t>(self.value);
  now_.epoch = setup_.first_epochs.empty() ? CommitEpoch{1} : setup_.first_epochs[me];
  now_.phase = Phase{1};
  now_.channels.resize(ranks());
  always_logged_.assign(ranks(), false);
  acknowledged_from_.assign(ranks(), std::nullopt);
  begin_row();
  committed_ = report();
}

template <class Rules>
BasicReplay<Rules>::BasicReplay(Setup setup, Rank self, Commit commit, Recovers round, Actions& actions)
    : BasicReplay(std::move(setup), self) {
  enter_round(round);
  status_ = Status::rolled_back;
  restoring_ = true;
  on(Restored{std::move(commit)}, actions);  // figure 3, lines 47 to 52
}

template <class Rules>
Actions BasicReplay<Rules>::step(const Event& event) {
  Actions actions;
  std::visit([&](const auto& what) { on(what, actions); }, event);
  return actions;
}

// --- without failures -----------------------------------------------------------------------------------------------

/// Figure 3, lines 13 to 17.
template <class Rules>
void BasicReplay<Rules>::on(const Sends& sends, Actions& actions) {
  require(may_run(), "a program sends only while it may run");
  Channel& to = channel(sends.to);
  to.sent = to.sent.next();
  Kept kept{to.sent, now_.epoch, now_.phase, sends.content, sends.large, false, std::nullopt, false};
  Letter letter{kept.date, kept.epoch, kept.phase, sends.content, sends.large, false, false, false, {}};
  if (always_logged_[static_cast<std::size_t>(sends.to.value)]) letter.already_logged = kept.breaks_path = true;
  to.kept.push_back(kept);
  const auto unacknowledged =
      std::count_if(to.kept.begin(), to.kept.end(), [](const Kept& one) { return !one.received && !one.breaks_path; });
  letter.wants_receipt = static_cast<std::size_t>(unacknowledged) > setup_.most_unacknowledged;
  letter.receipts = receipts_since(to, to.told);
  to.told = received(sends.to);
  actions.push_back(Send{sends.to, std::move(letter)});
}

template <class Rules>
Date BasicReplay<Rules>::received(Rank from) const {
  const auto& received = channel(from).received;
  return received.empty() ? Date{} : received.back().last;
}

/// Figure 3, line 20.
template <class Rules>
bool BasicReplay<Rules>::is_known(Rank from, const Letter& letter) const {
  if (keeps(Rule::compare_with_last_date)) return letter.date <= received(from);
  const auto& received = channel(from).received;
  return !received.empty() && received.back().phase == now_.phase && letter.date <= received.back().last;
}

template <class Rules>
void BasicReplay<Rules>::on(const Arrives& arrives, Actions& actions) {
  require(listens(), "messages are taken in only when the line is known");
  take(arrives.from, arrives.letter.receipts);
  if (is_known(arrives.from, arrives.letter)) {
    receive_again(arrives, actions);
  } else {
    receive(arrives, actions);
  }
}

/// Figure 3, lines 20 to 28; section III-B and figure 5 for the acknowledgement.
template <class Rules>
void BasicReplay<Rules>::receive(const Arrives& arrives, Actions& actions) {
  const Letter& letter = arrives.letter;
  Channel& from = channel(arrives.from);
  const bool breaks_path = letter.breaks_path && keeps(Rule::replayed_raises_phase);
  const bool logged = keeps(Rule::log_past_to_future) && (breaks_path || letter.epoch < now_.epoch);
  const Phase phase = logged && keeps(Rule::logged_raises_phase) ? letter.phase.next() : letter.phase;
  now_.phase = std::max(now_.phase, phase);
  if (from.received.empty() || from.received.back().phase != now_.phase) {
    from.received.push_back({now_.phase, now_.epoch, {}, {}});
  }
  from.received.back().last = letter.date;
  if (logged) from.received.back().last_logged = letter.date;

  auto& acknowledged = acknowledged_from_[static_cast<std::size_t>(arrives.from.value)];
  const bool first_logged = logged && !letter.already_logged && acknowledged != letter.epoch;
  if (first_logged) acknowledged = letter.epoch;
  if (first_logged || letter.wants_receipt || (letter.large && !letter.already_logged)) {
    acknowledge(arrives.from, receipts_since(from, from.told), actions);
    from.told = letter.date;
  }
  actions.push_back(Deliver{arrives.from, letter.content});
}

/// Figure 3, lines 29 to 32. The paper does not acknowledge these.
template <class Rules>
void BasicReplay<Rules>::receive_again(const Arrives& arrives, Actions& actions) {
  const Date date = arrives.letter.date;
  actions.push_back(Discard{arrives.from, date});
  if (keeps(Rule::acknowledge_duplicates)) {
    acknowledge(arrives.from, {receipt_for(channel(arrives.from), date)}, actions);
  }
  orphan_came(arrives.from, date, actions);
}

template <class Rules>
void BasicReplay<Rules>::acknowledge(Rank to, std::vector<Receipt> receipts, Actions& actions) {
  if (!receipts.empty()) tell(to, Receipts{std::move(receipts)}, actions);
}

/// Returns receipts for the messages after `after`: the epoch in which they were received, and whether they are logged.
template <class Rules>
std::vector<Receipt> BasicReplay<Rules>::receipts_since(const Channel& from, Date after) const {
  std::vector<Receipt> receipts;
  const auto add = [&](Date last, CommitEpoch epoch, bool logged) {
    if (last <= after) return;
    if (!receipts.empty() && receipts.back().epoch == epoch && receipts.back().logged == logged) {
      receipts.back().last = last;
    } else {
      receipts.push_back({after.next(), last, epoch, logged});
    }
    after = last;
  };
  for (const auto& received : from.received) {
    add(received.last_logged, received.epoch, true);
    add(received.last, received.epoch, false);
  }
  return receipts;
}

template <class Rules>
Receipt BasicReplay<Rules>::receipt_for(const Channel& from, Date date) const {
  const auto received =
      std::find_if(from.received.begin(), from.received.end(), [&](const auto& one) { return date <= one.last; });
  if (received == from.received.end()) return {date, date, now_.epoch, false};
  if (!keeps(Rule::first_epoch_counts)) return {date, date, now_.epoch, false};
  return {date, date, received->epoch, date <= received->last_logged};
}

/// Figure 3, lines 34 to 39; figure 5.
template <class Rules>
void BasicReplay<Rules>::take(Rank from, const std::vector<Receipt>& receipts) {
  Channel& to = channel(from);
  const auto peer = static_cast<std::size_t>(from.value);
  for (const Receipt& receipt : receipts) {
    const auto first =
        std::find_if(to.kept.begin(), to.kept.end(), [&](const Kept& kept) { return receipt.first <= kept.date; });
    const auto end = std::find_if(first, to.kept.end(), [&](const Kept& kept) { return receipt.last < kept.date; });
    if (!receipt.logged) {
      for (auto kept = first; kept != end; ++kept) {
        auto& received = row(kept->epoch).received[peer];
        received = std::max(received.value_or(receipt.epoch), receipt.epoch);
      }
      to.kept.erase(first, end);
      continue;
    }
    for (auto kept = first; kept != end; ++kept) {
      kept->received = receipt.epoch;
      kept->breaks_path = true;
      kept->due = false;
      if (status_ == Status::running && kept->epoch == now_.epoch) always_logged_[peer] = true;
    }
    if (!always_logged_[peer]) continue;
    for (auto kept = end; kept != to.kept.end(); ++kept) kept->breaks_path |= kept->epoch == now_.epoch;
  }
}

/// Figure 3, lines 41 to 45, in another order.
template <class Rules>
void BasicReplay<Rules>::on(const Commits&, Actions& actions) {
  require(may_commit(), "a rank that went back commits when the recovery is over");
  const CommitEpoch before = now_.epoch;
  const Phase phase_before = now_.phase;
  now_.epoch = now_.epoch.next();
  if (keeps(Rule::commit_raises_phase)) now_.phase = now_.phase.next();
  always_logged_.assign(ranks(), false);
  begin_row();
  Commit commit = now_;
  if (!keeps(Rule::commit_after_counting)) {
    commit.epoch = before;
    commit.phase = phase_before;
    commit.rows.pop_back();
  }
  if (!keeps(Rule::commit_unacknowledged)) {
    for (Channel& to : commit.channels) std::erase_if(to.kept, [](const Kept& kept) { return !kept.received; });
  }
  actions.push_back(Save{std::move(commit)});
  committed_ = report();
}

template <class Rules>
void BasicReplay<Rules>::begin_row() {
  Row begun{now_.epoch, {}, {}, std::vector<std::optional<CommitEpoch>>(ranks()), std::vector<Date>(ranks())};
  for (std::size_t peer = 0; peer < ranks(); ++peer) {
    begun.begin.push_back(now_.channels[peer].sent);
    begun.had.push_back(received(Rank{static_cast<int>(peer)}));
  }
  now_.rows.push_back(std::move(begun));
}

template <class Rules>
Row& BasicReplay<Rules>::row(CommitEpoch epoch) {
  const auto found =
      std::find_if(now_.rows.rbegin(), now_.rows.rend(), [&](const Row& one) { return one.epoch <= epoch; });
  return found == now_.rows.rend() ? now_.rows.front() : *found;
}

// --- a recovery -----------------------------------------------------------------------------------------------------

template <class Rules>
void BasicReplay<Rules>::enter_round(const Recovers& recovers) {
  round_ = recovers.round;
  holder_ = recovers.holder;
  at_peace_ = restoring_ = adopted_ = released_ = false;
  decree_.reset();
  ready_.reset();
  announced_.reset();
  orphans_.clear();
  always_logged_.assign(ranks(), false);
  acknowledged_from_.assign(ranks(), std::nullopt);
  reports_.assign(ranks(), std::nullopt);
  missing_.assign(ranks(), std::nullopt);
  answers_.clear();
}

/// Figure 3, lines 54 to 56. A rank that rolled back in a recovery that has not ended begins again.
template <class Rules>
void BasicReplay<Rules>::on(const Recovers& recovers, Actions& actions) {
  const bool unfinished = status_ == Status::rolled_back && keeps(Rule::begin_again);
  enter_round(recovers);
  if (unfinished) {
    restoring_ = true;
    actions.push_back(Restore{now_.epoch});
    return;
  }
  status_ = Status::blocked;
  tell(holder_, report(), actions);
}

/// Figure 3, lines 48 to 52 for the first report, lines 59 to 61 for the line.
template <class Rules>
void BasicReplay<Rules>::on(const Restored& restored, Actions& actions) {
  now_ = restored.commit;
  status_ = Status::rolled_back;
  restoring_ = false;
  committed_ = report();
  if (decree_) return adopt(actions);
  tell(holder_, report(), actions);
}

template <class Rules>
Report BasicReplay<Rules>::report() const {
  Report report{status_ == Status::rolled_back, now_.epoch, now_.rows, {}};
  const bool exact = keeps(Rule::doubt_what_is_missing);
  for (std::size_t peer = 0; peer < ranks(); ++peer) report.has.push_back(received(Rank{static_cast<int>(peer)}));
  if (!keeps(Rule::doubt_unacknowledged)) return report;
  for (std::size_t peer = 0; peer < ranks(); ++peer) {
    for (const Kept& kept : now_.channels[peer].kept) {
      if (kept.received || kept.breaks_path) continue;
      for (Row& row : report.rows) {
        if (row.epoch == kept.epoch) row.unacknowledged[peer] = exact ? kept.date : Date{~std::uint32_t{0}};
      }
    }
  }
  return report;
}

/// A newcomer knows only the acknowledgements recorded in its commit.
template <class Rules>
void BasicReplay<Rules>::add_doubts_of_commit(Report& report) const {
  if (!keeps(Rule::doubt_of_the_commit)) return;
  for (const Row& then : committed_.rows) {
    for (Row& row : report.rows) {
      if (row.epoch != then.epoch) continue;
      for (std::size_t peer = 0; peer < ranks(); ++peer) {
        row.unacknowledged[peer] = std::max(row.unacknowledged[peer], then.unacknowledged[peer]);
      }
    }
  }
}

/// Figure 4, lines 6 to 20.
template <class Rules>
void BasicReplay<Rules>::hear(Rank from, const Report& report, Actions& actions) {
  reports_[static_cast<std::size_t>(from.value)] = report;
  std::vector<Report> all;
  for (const auto& one : reports_) {
    if (!one) return;
    all.push_back(*one);
  }
  const Line line = recovery_line(all, setup_.clusters);
  for (std::size_t to = 0; to < ranks(); ++to) {
    Decree decree{line, {}, {}};
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      decree.dates.push_back(sent_before(all[rank], line[rank], to));
      decree.received.push_back(received_by(all[rank], line[rank])[to]);
    }
    tell(Rank{static_cast<int>(to)}, std::move(decree), actions);
  }
}

/// Figure 3, lines 58 to 61.
template <class Rules>
void BasicReplay<Rules>::hear(Rank, const Decree& decree, Actions& actions) {
  decree_ = decree;
  line_ = decree.line;
  const auto& target = decree.line[static_cast<std::size_t>(self_.value)];
  if (target && !(status_ == Status::rolled_back && *target == now_.epoch)) {
    restoring_ = true;
    actions.push_back(Restore{*target});
    return;
  }
  adopt(actions);
}

/// Figure 3, lines 62 to 68.
template <class Rules>
void BasicReplay<Rules>::adopt(Actions& actions) {
  adopted_ = true;
  find_orphans();
  find_due();
  tell_missing(actions);
}

/// Figure 3, lines 62 to 64.
template <class Rules>
void BasicReplay<Rules>::find_orphans() {
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (!line_[rank]) continue;
    for (const auto& received : now_.channels[rank].received) {
      if (received.last > decree_->dates[rank]) {
        orphans_[received.phase].insert({static_cast<int>(rank), received.last});
      }
    }
  }
}

/// Figure 3, lines 65 to 67, and messages that are not acknowledged.
template <class Rules>
void BasicReplay<Rules>::find_due() {
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    for (Kept& kept : now_.channels[rank].kept) {
      if (!kept.received) {
        kept.due = keeps(Rule::resend_unacknowledged) || kept.breaks_path;
      } else {
        kept.due = keeps(Rule::replay_what_is_missing) ? kept.date > decree_->received[rank]
                                                       : line_[rank] && *kept.received >= *line_[rank];
        if (kept.due && keeps(Rule::replayed_is_unacknowledged)) kept.received.reset();
      }
    }
  }
}

/// Figure 3, lines 29 to 32.
template <class Rules>
void BasicReplay<Rules>::orphan_came(Rank from, Date date, Actions& actions) {
  bool lowest_is_complete = false;
  for (auto phase = orphans_.begin(); phase != orphans_.end(); ++phase) {
    if (phase->second.erase({from.value, date}) == 0) continue;
    if (phase->second.empty()) {
      lowest_is_complete = phase == orphans_.begin();
      orphans_.erase(phase);
    }
    break;
  }
  if (lowest_is_complete) tell_missing(actions);
}

template <class Rules>
void BasicReplay<Rules>::tell_missing(Actions& actions) {
  Missing missing;
  if (!orphans_.empty()) missing.phase = orphans_.begin()->first;
  tell(holder_, missing, actions);
}

/// Figure 4, lines 22 to 36.
template <class Rules>
void BasicReplay<Rules>::hear(Rank from, const Missing& missing, Actions& actions) {
  missing_[static_cast<std::size_t>(from.value)] = missing;
  announce(actions);
}

/// Figure 4, lines 38 to 41.
template <class Rules>
void BasicReplay<Rules>::announce(Actions& actions) {
  Ready ready;
  for (const auto& missing : missing_) {
    if (!missing) return;
    if (missing->phase && (!ready.floor || *missing->phase < *ready.floor)) ready.floor = missing->phase;
  }
  if (announced_ && announced_->floor == ready.floor) return;
  announced_ = ready;
  for (std::size_t to = 0; to < ranks(); ++to) tell(Rank{static_cast<int>(to)}, ready, actions);
}

/// Figure 3, lines 70 to 74.
template <class Rules>
void BasicReplay<Rules>::hear(Rank, const Ready& ready, Actions& actions) {
  ready_ = ready;
  send_due(actions);
  go_on();
}

template <class Rules>
void BasicReplay<Rules>::send_due(Actions& actions) {
  const auto is_ready = [&](Phase phase) {
    if (!ready_->floor || !keeps(Rule::kept_wait_for_phase)) return true;
    return phase < *ready_->floor;
  };
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    for (Kept& kept : now_.channels[rank].kept) {
      if (!kept.due || !is_ready(kept.phase)) continue;
      kept.due = false;
      Letter letter{kept.date, kept.epoch, kept.phase, kept.content, kept.large, false, kept.breaks_path, false, {}};
      actions.push_back(Send{Rank{static_cast<int>(rank)}, std::move(letter)});
    }
  }
}

/// Figure 3, lines 73 and 74.
template <class Rules>
void BasicReplay<Rules>::go_on() {
  if (!ready_->floor) {
    status_ = Status::running;
    at_peace_ = true;
    return;
  }
  const Phase floor = *ready_->floor;
  if (status_ == Status::rolled_back) {
    released_ |= keeps(Rule::rolled_back_wait_below) ? now_.phase <= floor : now_.phase < floor;
  } else if (now_.phase < floor || !keeps(Rule::survivors_wait)) {
    status_ = Status::running;
  }
}

// --- garbage collection ---------------------------------------------------------------------------------------------

/// Section III-A, "Garbage Collection".
template <class Rules>
void BasicReplay<Rules>::on(const Collects&, Actions& actions) {
  require(at_peace_, "garbage is collected when no recovery is under way");
  answers_.assign(ranks(), std::nullopt);
  for (std::size_t to = 0; to < ranks(); ++to) tell(Rank{static_cast<int>(to)}, Ask{}, actions);
}

template <class Rules>
void BasicReplay<Rules>::hear(Rank from, const Ask&, Actions& actions) {
  if (!at_peace_) return;
  Report all = report();
  add_doubts_of_commit(all);
  tell(from, Answer{std::move(all)}, actions);
}

template <class Rules>
void BasicReplay<Rules>::hear(Rank from, const Answer& answer, Actions& actions) {
  if (answers_.empty()) return;
  answers_[static_cast<std::size_t>(from.value)] = answer.report;
  std::vector<Report> all;
  for (const auto& one : answers_) {
    if (!one) return;
    all.push_back(*one);
  }
  answers_.clear();
  Line line = line_of_all(all, setup_.clusters);
  if (!keeps(Rule::keep_the_line_of_all)) {
    CommitEpoch smallest = all.front().epoch;
    for (const Report& report : all) smallest = std::min(smallest, report.epoch);
    line.assign(ranks(), smallest);
  }
  for (std::size_t to = 0; to < ranks(); ++to) {
    Floors floors{line, {}};
    for (std::size_t rank = 0; rank < ranks(); ++rank) floors.dates.push_back(sent_before(all[rank], line[rank], to));
    tell(Rank{static_cast<int>(to)}, std::move(floors), actions);
  }
}

template <class Rules>
void BasicReplay<Rules>::hear(Rank, const Floors& floors, Actions& actions) {
  const CommitEpoch floor = *floors.line[static_cast<std::size_t>(self_.value)];
  std::erase_if(now_.rows, [&](const Row& row) { return row.epoch < floor; });
  actions.push_back(DropCommits{floor});
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    Date date;
    for (const auto& received : now_.channels[rank].received) {
      if (received.epoch < floor) date = received.last;
    }
    if (date != Date{}) tell(Rank{static_cast<int>(rank)}, Unneeded{date}, actions);
    merge_received(now_.channels[rank].received, floor, floors.dates[rank]);
  }
}

/// Merges the rows of messages that this rank has received before `floor` and that their sender has sent before its own
/// floor (up to `date`). The sender does not compute these messages again, so they are never orphans, and their phases
/// are not needed. It may send some of them again from a commit. For their receipts, all epochs before the floor mean
/// the same: this rank never needs the messages again.
template <class Rules>
void BasicReplay<Rules>::merge_received(std::vector<Commit::Received>& rows, CommitEpoch floor, Date date) {
  const auto is_later = [&](const Commit::Received& row) { return row.epoch >= floor || row.last > date; };
  const auto later = std::find_if(rows.begin(), rows.end(), is_later);
  if (later != rows.begin()) rows.erase(rows.begin(), std::prev(later));
}

template <class Rules>
void BasicReplay<Rules>::hear(Rank from, const Unneeded& unneeded, Actions&) {
  std::erase_if(channel(from).kept, [&](const Kept& kept) { return kept.date <= unneeded.date; });
}

// --- the rest -------------------------------------------------------------------------------------------------------

template <class Rules>
void BasicReplay<Rules>::on(const Hears& hears, Actions& actions) {
  std::visit([&](const auto& what) { hear(hears.from, what, actions); }, hears.message);
}

template <class Rules>
void BasicReplay<Rules>::hear(Rank from, const Receipts& receipts, Actions&) {
  take(from, receipts.receipts);
}

template <class Rules>
void BasicReplay<Rules>::tell(Rank to, Control message, Actions& actions) {
  if (to != self_) {
    actions.push_back(Tell{to, std::move(message)});
  } else {
    std::visit([&](const auto& what) { hear(self_, what, actions); }, message);
  }
}

template <class Rules>
void BasicReplay<Rules>::add_to(transport::Fingerprint& print) const {
  print.add(now_.epoch.value);
  print.add(now_.phase.value);
  replay::add_to(print, Report{false, now_.epoch, now_.rows, {}});
  for (const Channel& peer : now_.channels) {
    print.add(peer.sent.value);
    print.add(peer.told.value);
    print.add(peer.kept.size());
    for (const Kept& kept : peer.kept) {
      print.add(kept.date.value);
      print.add(std::uint64_t{kept.epoch.value} << 32U | kept.phase.value);
      print.add(kept.content);
      print.add(kept.received ? kept.received->value + 1 : 0);
      print.add(std::uint64_t{kept.breaks_path} | std::uint64_t{kept.due} << 1U);
    }
    print.add(peer.received.size());
    for (const auto& received : peer.received) {
      print.add(std::uint64_t{received.phase.value} << 32U | received.epoch.value);
      print.add(std::uint64_t{received.last.value} << 32U | received.last_logged.value);
    }
  }
  print.add(static_cast<std::uint64_t>(status_));
  print.add(std::uint64_t{at_peace_} | std::uint64_t{restoring_} << 1U | std::uint64_t{adopted_} << 2U |
            std::uint64_t{released_} << 3U);
  for (const bool logged : always_logged_) print.add(logged);
  for (const auto& epoch : acknowledged_from_) print.add(epoch ? epoch->value + 1 : 0);
  if (at_peace_ && answers_.empty()) return;  // the rest belongs to a recovery
  print.add(round_);
  for (const auto& target : line_) print.add(target ? target->value + 1 : 0);
  for (const auto& [phase, some] : orphans_) {
    print.add(phase.value);
    for (const auto& [rank, date] : some) print.add(static_cast<std::uint64_t>(rank) << 32U | date.value);
  }
  const auto add_floor = [&](const auto& one) { print.add(!one ? 0 : one->floor ? one->floor->value + 2 : 1); };
  add_floor(ready_);
  add_floor(announced_);
  for (const auto& missing : missing_) print.add(!missing ? 0 : missing->phase ? missing->phase->value + 2 : 1);
  for (const auto* reports : {&reports_, &answers_}) {
    print.add(reports->size());
    for (const auto& report : *reports) {
      print.add(report.has_value());
      if (report) replay::add_to(print, *report);
    }
  }
}

}  // namespace mend::replay
