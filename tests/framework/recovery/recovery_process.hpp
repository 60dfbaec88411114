// A process of the modelled job, and the results of its agreements.

#pragma once

#include "agreement/agreement.hpp"
#include "agreement/ballot.hpp"
#include "agreement/simulated/fixed_outcome.hpp"
#include "tests/framework/recovery/recovery_communicators.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace mend::recovery {

using agreement::ballot_contribution;
using agreement::FixedOutcome;

enum class Stage : std::uint8_t { unborn, at_line, admitted };

/// The calls of spares that a process has heard from another one: those for the last epoch.
struct CallsHeard {
  std::uint8_t epoch = 0;  // plus one; 0: none
  Mask because_of = 0;     // processes that have died
  bool without_reason = false;

  void add(const CallSpares& call) {
    const auto called = static_cast<std::uint8_t>(call.epoch.value + 1);
    if (called < epoch) return;
    if (called > epoch) *this = {called};
    if (call.because_of) because_of = static_cast<Mask>(because_of | 1U << call.because_of->value);
    without_reason = without_reason || !call.because_of;
  }
  bool is_there() const { return epoch != 0; }
  bool wakes(const Position& position) const {
    if (!is_there()) return false;
    const Epoch called{epoch - 1U};
    if (without_reason && position.heeds({called})) return true;
    return std::ranges::any_of(position.members, [&](ProcessId member) {
      return (because_of >> member.value & 1U) != 0 && position.heeds({called, member});
    });
  }
  void add_to(transport::Fingerprint& print) const {
    print.add(epoch | std::uint64_t{because_of} << 8U | std::uint64_t{without_reason} << 32U);
  }
};

/// A process: its core, the operation in which it waits, and its communicators.
template <class Core>
struct Participant {
  std::optional<Core> core;
  Op op = Op::nothing;
  CommId on = none;  // the communicator of the operation
  std::uint8_t number = 0;
  Stage stage = Stage::unborn;
  bool restoring = false;      // in the body
  bool is_first_half = false;  // of the body
  bool troubled = false;
  Mask data = 0;
  Mask noticed = 0;
  CommId base = none;
  CommId candidate = none;
  CommId candidate_application = none;
  CommId application = none;
  CommId meeting = none;
  CommId joined = none;
  std::uint8_t host = 0xff;   // of a newcomer
  std::uint8_t guest = 0xff;  // of a host
  agreement::Proposal proposal = agreement::Proposal::finish;
  std::optional<agreement::BallotResult> closed;
  std::optional<Position> position;  // sent to a newcomer
  Course course;
  std::optional<End> end;
  mutable std::optional<transport::Fingerprint> known;

  transport::Fingerprint print() const {
    if (known) return *known;
    transport::Fingerprint print;
    if (core) core->add_to(print);
    print.add(static_cast<std::uint64_t>(op) | std::uint64_t{on} << 8U | static_cast<std::uint64_t>(stage) << 16U |
              std::uint64_t{restoring} << 24U | std::uint64_t{troubled} << 25U | std::uint64_t{is_first_half} << 26U |
              std::uint64_t{data} << 32U | std::uint64_t{noticed} << 48U);
    print.add(std::uint64_t{base} | std::uint64_t{candidate} << 8U | std::uint64_t{candidate_application} << 16U |
              std::uint64_t{application} << 24U | std::uint64_t{meeting} << 32U | std::uint64_t{joined} << 40U |
              std::uint64_t{host} << 48U | std::uint64_t{guest} << 56U);
    print.add(static_cast<std::uint64_t>(proposal) | (closed ? static_cast<std::uint64_t>(*closed) + 1 : 0) << 8U |
              std::uint64_t{end.has_value()} << 16U |
              (end ? static_cast<std::uint64_t>(end->code) << 24U | static_cast<std::uint64_t>(end->why) << 32U : 0) |
              std::uint64_t{position.has_value()} << 40U);
    known = print;
    return print;
  }
};

}  // namespace mend::recovery
