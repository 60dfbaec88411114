// The reliable broadcast of deaths: one begins it, everyone passes it on once, along two hypercubes
// (detector/hypercubes.hpp).
//
// Each broadcast carries the list of the dead that its source knew. The hypercubes span whoever is not in that list,
// and everyone computes them from the list that came and not from what it knows itself: hops that different members
// saw differently would not be disjoint paths any more.
//
// If the source lives, everyone hears, whoever else dies, up to floor(log2 n) - 1 of them. If it dies while it sends,
// some may have heard and some not; whoever observed it must begin anew, which is the ring's business.
//
// A source's lists grow from broadcast to broadcast. Who has passed on the longer of two need not pass on the shorter,
// should that come later: it says nothing that is not on its way already, and to fewer dead.

#pragma once

#include "detector/message.hpp"

#include <vector>

namespace mend::detector {

/// Processes 0 ... processes-1, as an epoch begins.
struct Membership {
  Epoch epoch;
  std::uint32_t processes = 0;
  ProcessSet left_out;  ///< the dead that all agree on, and whoever has left

  bool includes(ProcessId process) const { return process.value < processes && !left_out.contains(process); }
  /// Returns true if all processes in `message` have a number in this epoch.
  bool covers(const Message& message) const {
    return message.source.value < processes && message.dead.is_below(processes);
  }
};

/// One member's part in the broadcasts of an epoch.
class Broadcast {
 public:
  explicit Broadcast(ProcessId self) : self_(self) {}

  /// From now on among these; all broadcasts before are forgotten.
  void begin(Membership membership);
  const Membership& membership() const { return membership_; }

  /// Tells everyone of `dead`: all that this member knows to have died in this epoch, more than the last time.
  void announce(const ProcessSet& dead, Actions& actions);

  /// Passes on `message`, a list of deaths that came from `from`. Does nothing if this has been passed on before, or
  /// if this member, the sender or the source are not among those the broadcast is for.
  void pass_on(ProcessId from, const Message& message, Actions& actions);

  /// Whether passing on `message` would do nothing, now and later.
  bool has_passed_on(const Message& message) const;

  void add_to(transport::Fingerprint& print) const;

 private:
  struct Heard {
    ProcessId source;
    ProcessSet dead;  // all lists of this source that were passed on
  };
  void note(const Message& message);

  ProcessId self_;
  Membership membership_;
  std::vector<Heard> heard_;  // ascending by source
};

}  // namespace mend::detector
