#include "agreement/simulated/simulation.hpp"

#include "agreement/wire.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend::agreement {
namespace {

constexpr std::uint32_t value_bits = 256;

std::uint64_t own_bit(Member member) { return std::uint64_t{1} << (member.value % 64); }
std::size_t own_word(Member member) { return member.value % value_bits / 64; }

}  // namespace

GroupSimulation::GroupSimulation(const SimulationOptions& options)
    : options_(options),
      simulator_(options.members, options.network, options.seed, *this),
      callers_(options.members),
      records_(options.agreements) {
  const auto tree = std::make_shared<const Tree>(options.members, options.layout);
  cores_.reserve(options.members);
  for (std::uint32_t p = 0; p < options.members; ++p) {
    cores_.push_back(options.make ? options.make({p}, tree)
                                  : make_core(options.protocol, {p}, tree, nullptr, options.rebalancing));
    plan_next({p});
  }
  for (Record& record : records_) {
    record.returned.resize(options.members);
    record.came.resize(options.members);
    record.went.resize(options.members);
  }
}

GroupSimulation::~GroupSimulation() = default;

void GroupSimulation::kill(Member member, SimulatedTime at) {
  if (!deaths_.emplace(member, at).second) return;
  simulator_.kill(member, at);
  tell(at, member, "dies");
}

void GroupSimulation::run() { simulator_.run(); }

bool GroupSimulation::lives(Member member) const { return !deaths_.contains(member); }

std::uint64_t GroupSimulation::messages_sent() const { return simulator_.messages_sent(); }

ByteCount GroupSimulation::size_of(const Message& message) const { return wire_size(message); }

// ---- the callers

/// Every member toggles its own bit (shared with few others), so that a decision shows which members it has counted.
Contribution GroupSimulation::contribution_of(Member member, std::uint32_t k) const {
  Contribution contribution;
  const bool by_or = transport::scramble(options_.seed, k, 3) % 4 == 0;
  contribution.operation = by_or ? Operation::bitwise_or : Operation::bitwise_and;
  contribution.call = options_.at_once > 1 ? Call::nonblocking : Call::blocking;
  if (!by_or && options_.members <= 8) contribution.value.words[0] = 0xff;  // easier to read
  if (!by_or && options_.members > 8) contribution.value.words.fill(~std::uint64_t{0});
  contribution.value.words[own_word(member)] ^= own_bit(member);
  return contribution;
}

void GroupSimulation::plan_next(Member member) {
  Caller& caller = callers_[member.value];
  if (caller.next == options_.agreements) return;
  SimulatedTime at = simulator_.now(member);
  if (options_.in_step.count() > 0) {
    at = std::max(at, caller.next * options_.in_step);
  } else if (options_.pause.count() > 0) {
    const std::uint64_t chance = transport::scramble(options_.seed, member.value, 1000 + caller.next);
    at += SimulatedTime{static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(options_.pause.count()))};
  }
  simulator_.wake(member, at);
}

void GroupSimulation::wake(Member member) {
  const Caller& caller = callers_[member.value];
  if (caller.next == options_.agreements || caller.next - caller.returned >= options_.at_once) return;
  come(member);
  if (callers_[member.value].next - callers_[member.value].returned < options_.at_once) plan_next(member);
}

void GroupSimulation::come(Member member) {
  const std::uint32_t k = callers_[member.value].next++;
  Core& core = *cores_[member.value];
  records_[k].came[member.value] = simulator_.now(member);
  if (options_.per_member.count() > 0) simulator_.compute(member, options_.members * options_.per_member);
  core.acknowledge(core.agreed_dead());
  tell(member, fmt::format("comes to #{}", k));
  core.contribute({k}, contribution_of(member, k), actions_);
  perform(member);
}

// ---- what happens to the cores

void GroupSimulation::receive(Member to, Member from, const Message& message) {
  if (options_.keep_transcript) tell(to, fmt::format("receives {} from {}", to_string(message), from.value));
  cores_[to.value]->receive(from, message, actions_);
  perform(to);
}

void GroupSimulation::dead(Member to, Member gone) {
  if (options_.keep_transcript) tell(to, fmt::format("is told that {} has died", gone.value));
  cores_[to.value]->dead(ProcessSet{gone}, actions_);
  perform(to);
}

void GroupSimulation::perform(Member member) {
  const SimulatedTime before = simulator_.now(member);
  for (Actions::Send& send : actions_.sends) simulator_.send(member, send.to, std::move(send.message));
  const bool goes_on = !actions_.decided.empty();
  for (const Actions::Decided& decided : actions_.decided) {
    strike(member, decided.agreement, before);
    record(member, decided);
  }
  actions_.clear();
  if (goes_on) plan_next(member);
}

/// Kills, by chance, the first member to decide, at a moment between `before` (its sends) and now.
void GroupSimulation::strike(Member member, AgreementId id, SimulatedTime before) {
  if (!records_[id.value].decisions.empty() || 2 * deaths_.size() > options_.members) return;
  const std::uint64_t chance = transport::scramble(options_.seed, id.value, 4);
  if (chance % 100 >= options_.fatal_decisions) return;
  const auto span = static_cast<std::uint64_t>((simulator_.now(member) - before).count()) + 1;
  kill(member, before + SimulatedTime{static_cast<std::int64_t>(chance / 100 % span)});
}

void GroupSimulation::record(Member member, const Actions::Decided& decided) {
  Record& record = records_[decided.agreement.value];
  if (options_.keep_transcript) {
    tell(member, fmt::format("returns from #{}: {}", decided.agreement.value, to_string(decided.decision)));
  }
  if (record.returned[member.value] != 0) {
    record.complaint = fmt::format("Irrevocability: {} returns twice", member.value);
    return;
  }
  ++callers_[member.value].returned;
  record.went[member.value] = simulator_.now(member);
  const auto known = std::find(record.decisions.begin(), record.decisions.end(), decided.decision);
  const auto index = known - record.decisions.begin();
  if (known == record.decisions.end()) record.decisions.push_back(decided.decision);
  record.returned[member.value] = static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(index + 1, 255));
  const Contribution own = contribution_of(member, static_cast<std::uint32_t>(decided.agreement.value));
  const std::uint64_t decided_word = decided.decision.value.words[own_word(member)];
  const bool counted = own.operation == Operation::bitwise_or ? (decided_word & own_bit(member)) != 0
                                                              : (decided_word & own_bit(member)) == 0;
  if (!counted) record.complaint = fmt::format("Participation: {} has no part in what it returns with", member.value);
}

void GroupSimulation::tell(SimulatedTime at, Member member, const std::string& what) {
  if (!options_.keep_transcript) return;
  if (const auto death = deaths_.find(member); death != deaths_.end() && at > death->second) return;
  const auto time = std::chrono::duration<double, std::micro>(at);
  told_.emplace_back(at, fmt::format("{:9.3f} us  {} {}\n", time.count(), member.value, what));
}

std::string GroupSimulation::transcript() const {
  auto lines = told_;
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [at, line] : lines) text += line;
  return text;
}

// ---- what came of it

std::optional<std::string> GroupSimulation::verdict() const {
  for (std::uint32_t k = 0; k < records_.size(); ++k) {
    const Record& record = records_[k];
    if (!record.complaint.empty()) return fmt::format("#{}: {}", k, record.complaint);
    std::uint8_t common = 0;
    for (std::uint32_t p = 0; p < options_.members; ++p) {
      if (!lives({p})) continue;
      if (record.returned[p] == 0) return fmt::format("Termination: {} never returns from #{}", p, k);
      if (common == 0) common = record.returned[p];
      if (common != record.returned[p]) return fmt::format("Agreement: {} returns from #{} with another value", p, k);
    }
    if (common == 0) continue;
    for (Member failed : record.decisions[common - 1U].failed.members()) {
      if (lives(failed)) return fmt::format("#{}: {} is agreed dead and lives", k, failed.value);
    }
  }
  return std::nullopt;
}

SimulatedTime GroupSimulation::duration(std::uint32_t k) const {
  SimulatedTime first = SimulatedTime::max();
  SimulatedTime last{0};
  for (std::uint32_t p = 0; p < options_.members; ++p) {
    if (!lives({p})) continue;
    first = std::min(first, records_[k].came[p]);
    last = std::max(last, records_[k].went[p]);
  }
  return last - first;
}

SimulatedTime GroupSimulation::longest_wait(std::uint32_t k) const {
  SimulatedTime longest{0};
  for (std::uint32_t p = 0; p < options_.members; ++p) {
    if (lives({p})) longest = std::max(longest, records_[k].went[p] - records_[k].came[p]);
  }
  return longest;
}

}  // namespace mend::agreement
