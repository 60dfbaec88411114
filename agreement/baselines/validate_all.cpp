#include "agreement/baselines/validate_all.hpp"

#include <algorithm>

namespace mend::agreement {
namespace {

using Kind = Message::Kind;

bool goes_down(Kind kind) { return kind == Kind::ballot || kind == Kind::commit || kind == Kind::all_commit; }

/// Returns how many members from `first` to `last` live.
std::uint32_t living_between(std::uint32_t first, std::uint32_t last, const ProcessSet& dead) {
  const auto below = static_cast<std::uint32_t>(dead.count_below({first}));
  return last + 1 - first - (static_cast<std::uint32_t>(dead.count_below({last + 1})) - below);
}

/// Returns the `index`-th living member, from `first` on.
std::uint32_t living_from(std::uint32_t first, std::uint32_t index, const ProcessSet& dead) {
  std::uint32_t number = first + index;
  for (const ProcessSet::Run& run : dead.runs()) {
    if (run.last.value < first) continue;
    if (run.first.value > number) break;
    number += run.last.value - std::max(run.first.value, first) + 1;
  }
  return number;
}

}  // namespace

ValidateAll::ValidateAll(Member self, std::shared_ptr<const Tree> tree, Semantics semantics,
                         std::shared_ptr<const Operations> operations)
    : BaselineCore(self, tree->left_out(), std::move(operations)), members_(*tree), semantics_(semantics) {}

void ValidateAll::contribute(AgreementId id, const Contribution& contribution, Actions& actions) {
  const bool at_one = std::any_of(agreements_.begin(), agreements_.end(), [](const Agreement& agreement) {
    return agreement.phase != Phase::absent && !agreement.returned;
  });
  const Tally mine = come_to(id, contribution, at_one, "validate-all");
  Agreement& agreement = find_or_begin(id);
  agreement.phase = Phase::balloting;
  agreement.agreed = agreed_;
  agreement.own = mine;
  if (is_root()) {
    take_role_of_root(agreement, actions);
  } else if (agreement.early && !dead_.contains(agreement.early->first)) {
    const auto [from, message] = *agreement.early;
    agreement.early.reset();
    take_wave(agreement, from, message, actions);
  }
  tidy();
}

// ---- messages

void ValidateAll::take(Member from, const Message& message, Actions& actions) {
  const auto is_it = [&](const Agreement& agreement) { return agreement.id == message.agreement; };
  if (message.agreement.value < came_to_ && std::none_of(agreements_.begin(), agreements_.end(), is_it)) {
    return;  // all members have returned from that one
  }
  if (goes_down(message.kind)) {
    take_wave(find_or_begin(message.agreement), from, message, actions);
  } else {
    if (const Sets* sets = message.tally.sets.get(); sets && message.kind != Kind::forced_nak) {
      believe(sets->failed, actions);
    }
    take_answer(find_or_begin(message.agreement), from, message, actions);
  }
  tidy();
}

void ValidateAll::take_wave(Agreement& agreement, Member from, const Message& message, Actions& actions) {
  if (agreement.phase == Phase::absent) {
    if (!agreement.early || agreement.early->second.round < message.round) agreement.early = {from, message};
    return;
  }
  const auto refuse = [&](Kind kind, const Tally* tally) {
    Actions::Send& sent = actions.sends.emplace_back();
    sent.to = from;
    sent.message.kind = kind;
    sent.message.agreement = agreement.id;
    sent.message.round = message.round;
    if (tally) sent.message.tally = *tally;
  };
  if (const Sets* sets = message.tally.sets.get()) believe(sets->failed, actions);
  if (message.round <= agreement.wave.round) return refuse(Kind::nak, nullptr);
  const bool forced = message.kind == Kind::ballot && agreement.phase != Phase::balloting;
  agreement.wave = {message.round, message.kind, from, false, false, {}, {}};
  if (forced) return refuse(Kind::forced_nak, &agreement.result);
  if (message.kind == Kind::ballot) {
    const ProcessSet news = difference(dead_, agreement.agreed);
    const Sets* ballot = message.tally.sets.get();
    agreement.wave.rejected = !news.empty() && !(ballot && ballot->failed.contains(news));
    agreement.wave.gathered = agreement.own;
  } else {
    if (agreement.phase == Phase::balloting) commit(agreement, message.tally, actions);
    if (message.kind == Kind::all_commit) come_back(agreement, actions);
  }
  pass_down(agreement, message, message.subtree_first, message.subtree_last, actions);
  answer_if_complete(agreement, actions);
}

void ValidateAll::take_answer(Agreement& agreement, Member from, const Message& message, Actions& actions) {
  Wave& wave = agreement.wave;
  if (!wave.waiting || message.round != wave.round || !wave.silent.contains(from)) return;
  switch (message.kind) {
    case Kind::reject: wave.rejected = true; [[fallthrough]];
    case Kind::accept:
      wave.silent.erase(from);
      if (wave.kind == Kind::ballot) combine(wave.gathered, message.tally, operations());
      return answer_if_complete(agreement, actions);
    case Kind::nak:
    case Kind::forced_nak: wave.waiting = false; return conclude(agreement, message.kind, message.tally, actions);
    default: return;  // a message of another protocol
  }
}

// ---- waves

void ValidateAll::take_role_of_root(Agreement& agreement, Actions& actions) {
  switch (agreement.phase) {
    case Phase::absent: return;
    case Phase::balloting: return begin_wave(agreement, Kind::ballot, actions);
    case Phase::committed: return begin_wave(agreement, Kind::commit, actions);
    case Phase::all_committed: return begin_wave(agreement, Kind::all_commit, actions);
  }
}

void ValidateAll::begin_wave(Agreement& agreement, Kind kind, Actions& actions) {
  const std::uint32_t count = agreement.wave.round.root == self() ? agreement.wave.round.count : 0;
  agreement.wave = {{self(), count + 1}, kind, std::nullopt, false, false, {}, {}};
  Message message;
  message.kind = kind;
  message.agreement = agreement.id;
  message.round = agreement.wave.round;
  if (kind == Kind::ballot) {
    agreement.wave.gathered = agreement.own;
    add_failures(message.tally, difference(dead_, agreement.agreed));
    add_failures(agreement.wave.gathered, difference(dead_, agreement.agreed));
  } else {
    message.tally = agreement.result;
  }
  pass_down(agreement, message, {self().value + 1}, {members_.size() - 1}, actions);
  answer_if_complete(agreement, actions);
}

/// Makes children of the living members between `first` and `last`. Each child gets the upper half of the members left.
void ValidateAll::pass_down(Agreement& agreement, const Message& wave, Member first, Member last, Actions& actions) {
  agreement.wave.waiting = true;
  std::uint32_t end = last.value + 1;
  while (first.value < end) {
    const std::uint32_t living = living_between(first.value, end - 1, dead_);
    if (living == 0) break;
    const Member child{living_from(first.value, living / 2, dead_)};
    agreement.wave.silent.insert(child);
    Actions::Send& sent = actions.sends.emplace_back(child, wave);
    sent.message.subtree_first = {child.value + 1};
    sent.message.subtree_last = {end - 1};
    end = child.value;
  }
}

void ValidateAll::answer_if_complete(Agreement& agreement, Actions& actions) {
  if (!agreement.wave.waiting || !agreement.wave.silent.empty()) return;
  agreement.wave.waiting = false;
  conclude(agreement, agreement.wave.rejected ? Kind::reject : Kind::accept, agreement.wave.gathered, actions);
}

/// Passes `answer` on to the parent; the root acts on it.
void ValidateAll::conclude(Agreement& agreement, Kind answer, const Tally& tally, Actions& actions) {
  Wave& wave = agreement.wave;
  if (wave.parent) {
    Actions::Send& sent = actions.sends.emplace_back();
    sent.to = *wave.parent;
    sent.message.kind = answer;
    sent.message.agreement = agreement.id;
    sent.message.round = wave.round;
    if (answer == Kind::forced_nak || (answer == Kind::accept && wave.kind == Kind::ballot)) sent.message.tally = tally;
    if (answer == Kind::nak || answer == Kind::reject) {
      add_failures(sent.message.tally, difference(dead_, agreement.agreed));
    }
    return;
  }
  if (answer == Kind::forced_nak) {
    const Tally forced = tally;
    commit(agreement, forced, actions);
    return begin_wave(agreement, Kind::commit, actions);
  }
  if (answer != Kind::accept) return begin_wave(agreement, wave.kind, actions);
  if (wave.kind == Kind::ballot) {
    const Tally result = tally;
    commit(agreement, result, actions);
    return begin_wave(agreement, Kind::commit, actions);
  }
  if (wave.kind == Kind::commit && semantics_ == Semantics::strict) {
    come_back(agreement, actions);
    begin_wave(agreement, Kind::all_commit, actions);
  }
}

// ---- decisions

void ValidateAll::commit(Agreement& agreement, const Tally& result, Actions& actions) {
  if (agreement.phase != Phase::balloting) return;
  agreement.phase = Phase::committed;
  agreement.result = result;
  if (semantics_ == Semantics::loose) come_back(agreement, actions);
}

void ValidateAll::come_back(Agreement& agreement, Actions& actions) {
  if (semantics_ == Semantics::strict) agreement.phase = Phase::all_committed;
  if (agreement.returned) return;
  agreement.returned = true;
  actions.decided.push_back({agreement.id, decision_of(agreement.result)});
  if (const Sets* sets = agreement.result.sets.get()) agreed_.insert(sets->failed);
}

// ---- failures

void ValidateAll::dead(const ProcessSet& gone, Actions& actions) {
  believe(gone, actions);
  tidy();
}

void ValidateAll::believe(const ProcessSet& gone, Actions& actions) {
  const ProcessSet news = difference(gone, dead_);
  if (news.empty()) return;
  const bool was_root = is_root();
  dead_.insert(news);
  for (Agreement& agreement : agreements_) {
    if (agreement.phase == Phase::absent) continue;
    if (!was_root && is_root()) {
      take_role_of_root(agreement, actions);
    } else if (agreement.wave.waiting && agreement.wave.silent.intersects(news)) {
      agreement.wave.waiting = false;
      conclude(agreement, Kind::nak, {}, actions);
    }
  }
}

// ---- book-keeping

ValidateAll::Agreement& ValidateAll::find_or_begin(AgreementId id) {
  for (Agreement& agreement : agreements_) {
    if (agreement.id == id) return agreement;
  }
  Agreement& begun = agreements_.emplace_back();
  begun.id = id;
  return begun;
}

/// A committed result holds the contributions of all members, so all have returned from the agreements before it.
void ValidateAll::tidy() {
  std::erase_if(agreements_, [&](const Agreement& earlier) {
    return std::any_of(agreements_.begin(), agreements_.end(), [&](const Agreement& later) {
      return earlier.id < later.id && (later.phase == Phase::committed || later.phase == Phase::all_committed);
    });
  });
}

void ValidateAll::add_to(transport::Fingerprint& print) const {
  using agreement::add_to;
  BaselineCore::add_to(print);
  for (const Agreement& agreement : agreements_) {
    print.add(agreement.id.value);
    print.add(static_cast<std::uint64_t>(agreement.phase) * 2 + (agreement.returned ? 1 : 0));
    add_to(print, agreement.own);
    add_to(print, agreement.result);
    add_to(print, agreement.agreed);
    const Wave& wave = agreement.wave;
    print.add(std::uint64_t{wave.round.root.value} << 32U | wave.round.count);
    print.add(static_cast<std::uint64_t>(wave.kind) * 4 + (wave.waiting ? 2 : 0) + (wave.rejected ? 1 : 0));
    print.add(wave.parent ? wave.parent->value + 1 : 0);
    add_to(print, wave.silent);
    add_to(print, wave.gathered);
    print.add(agreement.early ? agreement.early->first.value + 1 : 0);
    if (agreement.early) add_to(print, agreement.early->second);
  }
}

}  // namespace mend::agreement
