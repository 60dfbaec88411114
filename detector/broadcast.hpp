// The reliable broadcast of deaths: one process begins it, and every process passes it on once, along two hypercubes
// (detector/hypercubes.hpp).
//
// Each broadcast carries the list of the dead processes that its source knew. The hypercubes span all processes that
// are not in this list. Every process computes them from the list that it received, and not from its own knowledge:
// paths computed from different views would not be disjoint any more.
//
// If the source lives, every process hears the broadcast, even if up to floor(log2 n) - 1 others die. If the source
// dies while it sends, some processes may have heard and others not. The process that observed the source must then
// begin a new broadcast, which is the task of the ring.
//
// A source's lists grow from broadcast to broadcast. A process that has passed on the longer of two lists need not pass
// on the shorter one if that arrives later: all its deaths are on their way already, and the longer list reaches more
// processes.

#pragma once

#include "detector/message.hpp"

#include <vector>

namespace mend::detector {

/// The processes 0 ... processes-1 of an epoch.
struct Membership {
  Epoch epoch;
  std::uint32_t processes = 0;
  ProcessSet left_out;  ///< the dead processes that all agree on, and the processes that have left

  ProcessSet members() const { return difference(ProcessSet::first(processes), left_out); }
  bool includes(ProcessId process) const { return process.value < processes && !left_out.contains(process); }
  /// Returns true if all processes in `message` have a number in this epoch.
  bool covers(const Message& message) const {
    return message.source.value < processes && message.dead.is_below(processes);
  }
};

/// The part of one process in the broadcasts of an epoch.
class Broadcast {
 public:
  explicit Broadcast(ProcessId self) : self_(self) {}

  /// Begins an epoch with `membership`; all earlier broadcasts are forgotten.
  void begin(Membership membership);
  const Membership& membership() const { return membership_; }

  /// Tells all processes of `dead`: all processes that this one knows to have died in this epoch. The list must have
  /// grown since the last call.
  void announce(const ProcessSet& dead, Actions& actions);

  /// Passes on `message`, a list of deaths that came from `from`. Does nothing if this list has been passed on before,
  /// or if this process, the sender or the source are not in the audience of the broadcast.
  void pass_on(ProcessId from, const Message& message, Actions& actions);

  /// Returns true if passing on `message` would do nothing, now and later.
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
