// The complete failure detector of one process: the ring finds silent processes, an inquiry makes sure that they are
// dead, and patience reduces the risk that an overloaded machine costs processes.
//
//     ring  --silent-->  on this machine? it is declared dead, and killed
//                        on another?      inquiry  --dead-->     the ring tells all processes
//                                                  --cut off-->  this process ends
//
// A process in Actions::died is dead for certain, or must be ended: all processes that learn of it declare it dead, and
// those on its machine kill it.
//
// Patience
// --------
// Each observer waits at least three times the longest recent silence of its emitter, and at most ten times the delta
// that it began with. Time in which the observer itself was kept from running does not count; it detects this by waking
// later than it asked for. So an overload costs time before it costs processes, and a job that is stopped and continued
// as a whole loses only time.
//
// The effect of a cut in the network
// ----------------------------------
// Let the network be cut into sides for a time T. Messages sent meanwhile arrive at most R after the end of the cut: R
// = delta/8 + eta, because a connection that makes no progress is made anew every delta/8. Patience can only make delta
// longer than assumed here.
//
//   C1  If eta + T + R < delta, no process is declared dead and no process ends. The last heartbeat before the cut was
//       sent at most eta before it, and the next one to pass arrives at most R after it. So no silence reaches delta,
//       and there is no earlier verdict: Inquiry::verdict waits for suspect(), which comes when the silence has reached
//       delta. An observer that has begun to ask at delta/2 hears from its emitter, and withdraws. A process that has
//       heard the inquiry waits delta for the withdrawal before it asks itself, and delta more before it considers
//       itself cut off. So with the defaults (eta 100 ms, delta 1 s) a cut of 0.67 s costs no process.
//   C2  A cut of any length leaves at most one side. A process is declared dead for its silence, and an asker
//       continues, only with a quorum of answers: more than half of n members, or half including the lowest of them,
//       where members that are certain to be dead do not count. A member that was declared dead because it is silent or
//       stuck (declare()) counts: it may live, and answer the other side. Let A and B be two sides, which know cA and
//       cB of the n to be dead for certain. A, B and these dead are disjoint, so |A| + |B| <= n - max(cA, cB). If both
//       were a quorum, |A| + |B| >= n - (cA + cB)/2. Both hold only if cA = cB is the same set and each side is exactly
//       half; then only one side has the lowest member. So the other side declares no process dead.
//   C3  Every process of a side without a quorum ends. The ring passes from another side into this one, so some
//       process of this side observes a process of another side. It asks. All processes of its side receive the
//       inquiry, and then neither a death nor a withdrawal. So each asks, gets too few answers, and ends
//       (Actions::cut_off).
//   C4  No process of a side with a quorum ends: each asker there gets enough answers. If a cut changes, two processes
//       on different sides can each have had a quorum, with a member in common that answered both; the one with the
//       higher number then ends (detector/ring.hpp, FENCE).
//
// tests/detector/cuts_test.cpp runs C1 to C4 on simulated machines.

#pragma once

#include "detector/inquiry.hpp"
#include "detector/ring.hpp"

#include <optional>
#include <vector>

namespace mend::detector {

class Detector {
 public:
  static constexpr int most_patience = 10;  ///< times delta

  /// The detector is in no epoch yet. Throws UsageError for times that cannot work.
  Detector(ProcessId self, const Timing& timing);

  /// Enters an epoch, later than any before. `nodes`: the machine of each process. Throws UsageError as Ring::enter.
  void enter(const Membership& membership, const std::vector<NodeId>& nodes, Time now, Actions& actions);

  /// Returns false, and does nothing, if `message` names processes that its epoch does not have.
  bool receive(ProcessId from, const Message& message, Time now, Actions& actions);
  /// The runtime or the kernel reports that `gone` are dead, which is certain.
  void witness(const ProcessSet& gone, Told told, Time now, Actions& actions);
  /// Declares `gone` dead, although they may live, and tells all others. They end when they learn of it.
  void declare(const ProcessSet& gone, Time now, Actions& actions);
  /// Handles the time `now`. Call it at next_deadline(), after receive() was called for all messages that have arrived.
  void tick(Time now, Actions& actions);

  /// Returns true if tick() would suspect the emitter, and the observer has not waited most_patience for it yet.
  bool emitter_is_overdue(Time now) const;
  /// The emitter is known to live, though it is silent.
  void excuse_emitter(Time now) { ring_.be_patient(Time{0}, now); }

  std::optional<Time> next_deadline() const;

  ProcessId emitter() const { return ring_.emitter(); }
  const ProcessSet& known_dead() const { return ring_.known_dead(); }
  const Membership& membership() const { return membership_; }
  Time delta() const { return ring_.delta(); }
  Time longest_silence() const { return longest_silence_; }
  /// Returns how many processes this one has found dead by their silence.
  std::uint64_t suspicions() const { return suspicions_; }

 private:
  bool is_here(ProcessId process) const;
  Time doubts_at() const;
  void notice_delay(Time now, Actions& actions);
  void follow_emitter(Time now);
  void learn_silence(Time now);
  void take_heartbeat(ProcessId from, const Message& message, Time now, Actions& actions);
  void suspect(Time now, Actions& actions);
  void hold_dead(const ProcessSet& silent, Time now, Actions& actions);
  void conclude(Time now, Actions& actions);

  ProcessId self_;
  Timing least_;  // as given at the start
  Ring ring_;
  Inquiry inquiry_;
  Membership membership_;
  std::vector<NodeId> nodes_;
  ProcessSet certain_;  // dead, and not only by their silence

  Time excused_until_{0};  // all delay before this time has been taken into account

  // About the emitter:
  ProcessId watched_;
  Time heard_at_{0};           // time of its last heartbeat, or of the moment when it became the emitter
  bool beats_ = false;         // true if it has been heard of since then
  Time kept_from_running_{0};  // how long this process was kept from running since then
  Time silence_{0};            // the longest recent one, of any emitter
  Time longest_silence_{0};
  std::uint64_t suspicions_ = 0;
};

}  // namespace mend::detector
