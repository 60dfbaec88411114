// An agreement protocol, as a pure object: events go in, actions come out.
//
// A core does no input or output, has no clock and no thread, and never waits. Its owner tells it what the caller
// contributes, which messages arrive and which members have died. The core answers with messages to send and with
// decisions for the caller. The same object runs in the explorer, in the simulator and under the MPI service.
//
// What the owner must ensure:
//   - messages between two living members arrive once, whole, and in the order in which they were sent;
//   - only dead members are reported dead, and every death is eventually reported to every living member;
//   - a caller contributes to its group's agreements in the order of their numbers, without a gap;
//   - a member answers messages after it has returned, until the group has ended.

#pragma once

#include "agreement/message.hpp"
#include "agreement/protocol.hpp"

#include <memory>
#include <string_view>

namespace mend::agreement {

class Core {
 public:
  virtual ~Core() = default;

  /// The caller contributes to agreement `id`, which must be the next one of the group. The decision appears once, in
  /// `actions` of this call or of a later one. Throws UsageError when `id` is out of order.
  virtual void contribute(AgreementId id, const Contribution& contribution, Actions& actions) = 0;

  /// Takes `message`, which came from `from`. Messages of members known to be dead are ignored.
  virtual void receive(Member from, const Message& message, Actions& actions) = 0;

  /// Handles the report that the members `gone` are dead. Some of them may already be known to be dead.
  virtual void dead(const ProcessSet& gone, Actions& actions) = 0;

  /// The caller acknowledges `failures`. Once all members have acknowledged them, agreements to which they contribute
  /// from then on do not report an error because of them.
  virtual void acknowledge(const ProcessSet& failures) = 0;

  /// Returns all members that this one knows to be dead.
  virtual const ProcessSet& known_dead() const = 0;

  /// Returns the failures on which all living members have agreed, as of the last blocking agreement that has returned.
  /// They include the members that the first tree left out, which count as acknowledged by all.
  virtual const ProcessSet& agreed_dead() const = 0;

  /// Adds all state that determines this core's future, so that states can be distinguished.
  virtual void add_to(transport::Fingerprint& print) const = 0;
};

/// Selects when members that agree on the set of dead members build a new tree.
enum class Rebalancing : std::uint8_t {
  when_degenerated,  ///< when a member has too many children (Tree::degenerated)
  always,            ///< after every failure
  never,
};

/// Makes a core for member `self` of the group that `tree` spans. `operations`: the group's operations, shared with all
/// cores; null for the built-in ones. All arguments but `self` are the same at every member. validate-all takes the
/// members from `tree` and makes its own binomial trees; only ERA rebalances.
std::unique_ptr<Core> make_core(Protocol protocol, Member self, std::shared_ptr<const Tree> tree,
                                std::shared_ptr<const Operations> operations = nullptr,
                                Rebalancing rebalancing = Rebalancing::when_degenerated);

}  // namespace mend::agreement
