// An agreement core and its caller, for the explorer, and the promises of agreement, as a check of a situation.

#pragma once

#include "agreement/core.hpp"
#include "transport/simulated/explorer.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mend::agreement {

/// A member whose caller comes to `calls` agreements, one after another, as early as possible.
template <class CoreType>
class AgreementNode {
 public:
  using Message = agreement::Message;
  using Outbox = transport::Outbox<Message>;

  /// Contributes to each agreement all bits except that of its own number: a missing bit shows a counted contribution.
  AgreementNode(Member self, CoreType core, std::vector<Call> calls)
      : self_(self), core_(std::move(core)), calls_(std::move(calls)) {}

  const CoreType& core() const { return core_; }
  std::size_t calls() const { return calls_.size(); }
  const std::map<std::uint64_t, Decision>& decided() const { return decided_; }
  /// Returns the failures that this member had agreed on when it came to agreement `id`.
  const ProcessSet& agreed_before(std::uint64_t id) const { return agreed_before_[id]; }
  /// Returns what went wrong in this member alone.
  const std::string& complaint() const { return complaint_; }

  std::size_t moves() const {
    if (next_ == calls_.size()) return 0;
    for (std::size_t k = 0; k < next_; ++k) {
      if (calls_[k] == Call::blocking && !decided_.contains(k)) return 0;
    }
    return 1;
  }
  void move(std::size_t, Outbox& outbox) {
    Contribution contribution;
    contribution.value.words[0] = 0xff & ~bit_of(self_);
    contribution.call = calls_[next_];
    agreed_before_.push_back(core_.agreed_dead());
    core_.acknowledge(agreed_before_.back());
    const AgreementId id{next_++};
    act(outbox, [&](Actions& actions) { core_.contribute(id, contribution, actions); });
  }
  void receive(Member from, const Message& message, Outbox& outbox) {
    act(outbox, [&](Actions& actions) { core_.receive(from, message, actions); });
  }
  void dead(Member gone, Outbox& outbox) {
    act(outbox, [&](Actions& actions) { core_.dead(ProcessSet{gone}, actions); });
  }
  bool ignores(Member from) const { return core_.ignores(from); }

  void add_to(transport::Fingerprint& print) const {
    core_.add_to(print);
    print.add(next_);
    for (const ProcessSet& agreed : agreed_before_) agreement::add_to(print, agreed);
    for (const auto& [id, decision] : decided_) {
      print.add(id);
      agreement::add_to(print, decision);
    }
    print.add(complaint_.size());
  }
  static void add_to_print(transport::Fingerprint& print, const Message& message) { agreement::add_to(print, message); }

  std::string describe_move(std::size_t) const { return fmt::format("contributes to #{}", next_); }
  static std::string describe(const Message& message) { return to_string(message); }
  std::string describe() const {
    std::string text;
    for (const auto& [id, decision] : decided_)
      text += fmt::format(" and has decided #{}: {}", id, to_string(decision));
    return text;
  }

 private:
  static std::uint64_t bit_of(Member member) { return std::uint64_t{1} << member.value; }

  template <class Step>
  void act(Outbox& outbox, Step step) {
    Actions actions;
    step(actions);
    for (Actions::Send& send : actions.sends) outbox.sends.emplace_back(send.to, std::move(send.message));
    for (Actions::Decided& decided : actions.decided) judge(decided.agreement, decided.decision);
  }

  void judge(AgreementId id, const Decision& decision) {
    if (!decided_.emplace(id.value, decision).second) {
      complaint_ = fmt::format("Irrevocability: {} decides #{} twice", self_.value, id.value);
    } else if (id.value >= next_) {
      complaint_ = fmt::format("{} decides #{} without having come to it", self_.value, id.value);
    } else if (decision.value.words[0] & bit_of(self_)) {
      complaint_ =
          fmt::format("Participation: {} returns from #{} with a value it has no part in", self_.value, id.value);
    }
  }

  Member self_;
  CoreType core_;
  std::vector<Call> calls_;
  std::size_t next_ = 0;
  std::vector<ProcessSet> agreed_before_;  // by agreement
  std::map<std::uint64_t, Decision> decided_;
  std::string complaint_;
};

/// Checks that a decision of member `p` tells only of failures that the members had not agreed on before, and holds
/// nothing of members that they had agreed to be dead. The members acknowledge all failures that they agree on.
template <class CoreType>
std::optional<std::string> old_failure(std::size_t p, const AgreementNode<CoreType>& node, std::uint64_t id,
                                       const Decision& decision) {
  const ProcessSet& before = node.agreed_before(id);
  if (decision.failed.intersects(before)) {
    return fmt::format("News: {} returns from #{} with {}, and {} were agreed on before", p, id, to_string(decision),
                       before.to_string());
  }
  for (const Member member : before.members()) {
    if ((decision.value.words[0] >> member.value & 1U) == 0) {
      return fmt::format("News: {} returns from #{} with a contribution of {}, which was agreed dead before", p, id,
                         member.value);
    }
  }
  if (decision.unacknowledged_failure && decision.failed.empty()) {
    return fmt::format("News: {} returns from #{} with an error, though all failures are acknowledged", p, id);
  }
  return std::nullopt;
}

/// Whether members that died after they had returned must have returned the same as the living ones.
enum class Uniformity { among_the_living, uniform };

/// Checks the promises of agreement (ERA paper, section 2.1), and the additional promises of the cores.
template <class CoreType>
std::optional<std::string> broken_promise(const transport::Situation<AgreementNode<CoreType>>& now,
                                          Uniformity uniformity) {
  const std::size_t members = now.nodes.size();
  const auto counts = [&](std::size_t p) { return uniformity == Uniformity::uniform || now.lives(p); };
  for (std::size_t p = 0; p < members; ++p) {
    if (!counts(p)) continue;
    const auto& node = *now.nodes[p];
    if (!node.complaint().empty()) return node.complaint();
    for (const auto& [id, decision] : node.decided()) {
      if (auto old = old_failure(p, node, id, decision)) return old;
      for (std::size_t q = p + 1; q < members; ++q) {
        if (!counts(q)) continue;
        const auto other = now.nodes[q]->decided().find(id);
        if (other != now.nodes[q]->decided().end() && other->second != decision) {
          return fmt::format("Agreement: {} returns from #{} with {}; {} with {}", p, id, to_string(decision), q,
                             to_string(other->second));
        }
      }
      for (std::size_t q = 0; q < members; ++q) {
        const Member member{static_cast<std::uint32_t>(q)};
        const bool missing = (decision.value.words[0] >> q & 1U) != 0;
        const bool said_dead = decision.failed.contains(member) || node.core().agreed_dead().contains(member);
        if (missing && !said_dead) {
          return fmt::format("{} returns from #{} without a word of {}, whose contribution is missing", p, id, q);
        }
        if (decision.failed.contains(member) && now.lives(q)) return fmt::format("{} is agreed dead and lives", q);
      }
    }
    if (!now.lives(p)) continue;
    for (std::size_t q = 0; q < members; ++q) {
      if (now.lives(q) && node.core().known_dead().contains(Member{static_cast<std::uint32_t>(q)})) {
        return fmt::format("Lemma 1: {} takes {} for dead, which lives", p, q);
      }
    }
    if (now.at_rest && node.decided().size() < node.calls()) {
      return fmt::format("Termination: {} waits for #{} for ever", p, node.decided().size());
    }
  }
  return std::nullopt;
}

}  // namespace mend::agreement
