// An agreement protocol, as a pure object: events go in, actions come out.
//
// A core does no input or output, has no clock and no thread, and never waits. Its owner tells it what the caller
// contributes, which message has come and who has died; the core answers with messages to send and decisions to
// hand to the caller. The same object runs in the explorer, in the simulator and under the MPI service.
//
// What the owner must keep:
//   - messages between two living members arrive once, whole, in the order they were sent;
//   - only the dead are reported dead, and every death is reported to every living member sooner or later;
//   - a caller contributes to its group's agreements in the order of their numbers, without a gap;
//   - a member goes on answering messages after it has returned, until the group has ended.

#pragma once

#include "agreement/message.hpp"

#include <memory>
#include <string_view>

namespace mend::agreement {

class Core {
 public:
  virtual ~Core() = default;

  /// The caller comes to agreement `id`, the next one that it has not come to. Its decision appears in `actions`
  /// of this call or of a later one, once. Throws UsageError when `id` is out of order.
  virtual void contribute(AgreementId id, const Contribution& contribution, Actions& actions) = 0;

  /// `message` has come from `from`. Messages of members known to be dead are ignored.
  virtual void receive(Member from, const Message& message, Actions& actions) = 0;

  /// `gone` are dead. Members already known to be dead may be among them.
  virtual void dead(const ProcessSet& gone, Actions& actions) = 0;

  /// The caller has acknowledged the failures of `failures`: agreements that it comes to from now on do not report
  /// an error because of them, once all have acknowledged them.
  virtual void acknowledge(const ProcessSet& failures) = 0;

  /// Every member that this one knows to be dead.
  virtual const ProcessSet& known_dead() const = 0;

  /// The failures that all living members have agreed on, as of the last blocking agreement returned from. Members
  /// that the first tree left out count among them, acknowledged by all.
  virtual const ProcessSet& agreed_dead() const = 0;

  /// Everything that decides this core's future, for telling states apart.
  virtual void add_to(transport::Fingerprint& print) const = 0;
};

/// The protocols, by name.
enum class Protocol : std::uint8_t {
  era,                 ///< "era": early returning agreement
  log2phases,          ///< "log2phases": two-phase commit along a tree
  validate_all,        ///< "validate-all": three-phase, uniform
  validate_all_loose,  ///< "validate-all-loose": two-phase, agreement among the living only
};

/// Throws UsageError on a name that is none of the above.
Protocol parse_protocol(std::string_view name);
std::string_view name_of(Protocol protocol);

/// When the members who agree on who is dead build a new tree.
enum class Rebalancing : std::uint8_t {
  when_degenerated,  ///< when some member's children have become too many (Tree::degenerated)
  always,            ///< after every failure
  never,
};

/// A core for member `self` of the group that `tree` spans. `operations` holds the group's own operations, if any;
/// it is shared with all cores. All but `self` is the same at every member. validate-all takes the members from
/// `tree` and makes its own binomial trees; only ERA rebalances.
std::unique_ptr<Core> make_core(Protocol protocol, Member self, std::shared_ptr<const Tree> tree,
                                std::shared_ptr<const Operations> operations = nullptr,
                                Rebalancing rebalancing = Rebalancing::when_degenerated);

}  // namespace mend::agreement
