#include "agreement/message.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend::agreement {
namespace {

const Sets no_sets;

const Sets& sets_of(const Tally& tally) { return tally.sets.get() ? *tally.sets.get() : no_sets; }

ProcessSet in_both(const ProcessSet& a, const ProcessSet& b) { return difference(a, difference(a, b)); }

void combine_sets(Tally& into, const Tally& from) {
  const Sets& other = sets_of(from);
  Sets& mine = into.sets.open();
  mine.members.insert(other.members);
  mine.failed.insert(other.failed);
  mine.acknowledged = in_both(mine.acknowledged, other.acknowledged);
  mine.unacknowledged.insert(other.unacknowledged);
  if (mine.empty()) into.sets.clear();
}

/// Returns the words of the value without leading zeros: "2a", or "ff.0.0.1" from the first word on.
std::string short_words(const Value& value) {
  std::size_t used = value.words.size();
  while (used > 1 && value.words[used - 1] == 0) --used;
  std::string text;
  for (std::size_t i = 0; i < used; ++i) text += fmt::format("{}{:x}", i ? "." : "", value.words[i]);
  return text;
}

}  // namespace

void combine(Tally& into, const Tally& from, const Operations& operations) {
  if (!from.counted) return;
  if (!into.counted) {
    into = from;
    return;
  }
  if (into.operation != from.operation) {
    throw UsageError("members came to one agreement with different operations: all must name the same");
  }
  operations.combine(into.operation, into.value, from.value);
  into.returned = intersection(into.returned, from.returned);
  if (!into.sets.empty() || !from.sets.empty()) combine_sets(into, from);
}

void add_failures(Tally& tally, const ProcessSet& failed) {
  if (!failed.empty()) tally.sets.open().failed.insert(failed);
}

Decision decision_of(const Tally& tally) {
  Decision decision;
  decision.value = tally.value;
  if (const Sets* sets = tally.sets.get()) {
    decision.failed = sets->failed;
    decision.members = sets->members;
    decision.unacknowledged_failure = !sets->unacknowledged.empty() || !sets->acknowledged.contains(sets->failed);
  }
  return decision;
}

Tally tally_of(const Contribution& contribution, const IdRange& returned, const ProcessSet& acknowledged,
               const ProcessSet& agreed) {
  Tally tally;
  tally.counted = true;
  tally.operation = contribution.operation;
  tally.value = contribution.value;
  tally.returned = returned;
  if (!contribution.members.empty()) tally.sets.open().members = contribution.members;
  if (acknowledged != agreed) {
    tally.sets.open().acknowledged = difference(acknowledged, agreed);
    tally.sets.open().unacknowledged = difference(agreed, acknowledged);
  }
  return tally;
}

const char* name_of(Message::Kind kind) {
  using Kind = Message::Kind;
  switch (kind) {
    case Kind::up: return "UP";
    case Kind::down: return "DOWN";
    case Kind::result_request: return "RESULT_REQUEST";
    case Kind::query: return "QUERY";
    case Kind::ballot: return "BALLOT";
    case Kind::commit: return "COMMIT";
    case Kind::all_commit: return "ALL_COMMIT";
    case Kind::accept: return "ACCEPT";
    case Kind::reject: return "REJECT";
    case Kind::nak: return "NAK";
    case Kind::forced_nak: return "FORCED_NAK";
  }
  return "?";
}

std::string to_string(const Message& message) {
  std::string text = fmt::format("{}(#{}", name_of(message.kind), message.agreement.value);
  if (message.round.count > 0) text += fmt::format(", round {}.{}", message.round.root.value, message.round.count);
  if (message.tally.counted) text += fmt::format(", {}", short_words(message.tally.value));
  const Sets& sets = sets_of(message.tally);
  if (!sets.failed.empty()) text += fmt::format(", failed {}", sets.failed.to_string());
  if (!sets.members.empty()) text += fmt::format(", members {}", sets.members.to_string());
  if (!sets.unacknowledged.empty()) text += fmt::format(", unacknowledged {}", sets.unacknowledged.to_string());
  if (!message.tally.returned.empty()) {
    text += fmt::format(", returned #{}-#{}", message.tally.returned.first.value, message.tally.returned.end.value - 1);
  }
  return text + ")";
}

std::string to_string(const Decision& decision) {
  std::string text = short_words(decision.value);
  if (!decision.failed.empty()) text += fmt::format(", failed {}", decision.failed.to_string());
  if (!decision.members.empty()) text += fmt::format(", members {}", decision.members.to_string());
  if (decision.unacknowledged_failure) text += ", not acknowledged by all";
  return text;
}

void add_to(transport::Fingerprint& print, const ProcessSet& set) {
  print.add(set.runs().size());
  for (const ProcessSet::Run& run : set.runs()) print.add(std::uint64_t{run.first.value} << 32U | run.last.value);
}

void add_to(transport::Fingerprint& print, const Tally& tally) {
  print.add(static_cast<std::uint64_t>(tally.operation) * 2 + (tally.counted ? 1 : 0));
  for (std::uint64_t word : tally.value.words) print.add(word);
  print.add(tally.returned.first.value);
  print.add(tally.returned.end.value);
  const Sets& sets = sets_of(tally);
  add_to(print, sets.members);
  add_to(print, sets.failed);
  add_to(print, sets.acknowledged);
  add_to(print, sets.unacknowledged);
}

void add_to(transport::Fingerprint& print, EarlyTallies early) {
  std::ranges::sort(early, {}, &EarlyTallies::value_type::first);
  print.add(early.size());
  for (const auto& [from, tally] : early) {
    print.add(from.value);
    add_to(print, tally);
  }
}

void add_to(transport::Fingerprint& print, const Message& message) {
  print.add(static_cast<std::uint64_t>(message.kind));
  print.add(message.agreement.value);
  add_to(print, message.tally);
  print.add(std::uint64_t{message.round.root.value} << 32U | message.round.count);
  print.add(std::uint64_t{message.subtree_first.value} << 32U | message.subtree_last.value);
}

void add_to(transport::Fingerprint& print, const Decision& decision) {
  for (std::uint64_t word : decision.value.words) print.add(word);
  add_to(print, decision.failed);
  add_to(print, decision.members);
  print.add(decision.unacknowledged_failure ? 1 : 0);
}

}  // namespace mend::agreement
