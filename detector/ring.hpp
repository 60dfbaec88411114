// The failure detector of Bosilca et al., "Failure Detection and Propagation in HPC Systems" (SC 2016, extended in
// IJHPCA 2018), algorithm 1: processes observe each other along a ring, and deaths are announced by broadcast.
//
// The picture
// -----------
// Processes stand in a ring in the order of their numbers. Each sends a heartbeat to its successor, its observer,
// every eta, and expects one from its predecessor, its emitter:
//
//     ... --> 3 --> 4 --> 5 --> 6 --> ...        5 observes 4; 4 emits to 5
//
// An observer that hears nothing for delta suspects its emitter. Its owner makes sure (detector/detector.hpp), or
// trusts the suspicion, as the paper does. When the emitter is declared dead, the observer takes the next predecessor
// not known dead as its emitter, tells it so (NEWOBSERVER), gives it 2 delta for its first heartbeat, and broadcasts
// the deaths it knows of (detector/broadcast.hpp). So without failures each process sends one message every eta, for
// any number of processes. With a failure, all processes know of the death delta and a logarithmic time after it.
//
// Why it holds
// ------------
// If every message takes at most tau, and delta > eta + tau:
//   P1  No living process is suspected. At its observer, two heartbeats of an emitter are at most eta + tau apart. A
//       new emitter learns of its observer, and its heartbeat arrives, within 2 tau.
//   P2  Every death becomes known to all. Let q be the closest living successor of a process that died. The final
//       emitter of q lives, or q would suspect it. So q has passed over the dead process, and whenever it passes over a
//       process, it broadcasts all deaths it knows of. q lives, so every process hears it.
//   P3  That takes no longer than T(f) = f(f+1) delta + f tau + f(f+1)/2 B(n) after f deaths that overlap, for f up
//       to floor(log2 n) - 1, where B(n) is the time of a broadcast (theorem 1).
//
// Other witnesses, such as the runtime or a broken connection, may know of a death before the ring does. The detector
// then acts at once, as if the time had run out.
//
// If a living process is declared dead (it was stopped, or cut off), it is told so (FENCE) by every process that later
// receives a heartbeat, a NEWOBSERVER of its epoch, or a message of an inquiry (detector/detector.cpp) from it. Every
// list that names it tells it too. The process reports this to its owner once, and sends nothing from then on. But it
// ignores the statement of a process that is an epoch behind, and of a process that it considers dead itself, unless
// that process has a lower number: of two processes that consider each other dead, one must give in.
//
// Epochs
// ------
// A ring belongs to an epoch. When processes join or are agreed to have left, all members enter the next epoch with the
// same membership. Messages of an older epoch are ignored. Messages that come too early are kept until this process
// enters their epoch. Deaths that this process knows and that were not agreed on are carried over. A process may also
// learn of the death of a process that only joins in the next epoch: no message of this epoch names it. A process that
// enters is a new emitter for its observer: it has 2 delta for its first heartbeat.
//
// Where the text of the paper is not enough
// -----------------------------------------
// tests/detector/ring_explorer_test.cpp has the shortest run in which the text fails.
//   - T5 adds to D the one process that the broadcast is about, and not the list that comes with it. If a source dies
//     in the middle of its broadcast, the processes that it did not reach never hear of that death: the source's
//     observer, which did hear, passes over both. (Rule::tell_the_list) So this ring believes the list, and sends only
//     the list.
//   - T5 leaves emitter alone when the broadcast is about emitter. Then one more time-out runs before the ring closes,
//     though every process knows. Here the observer passes over it at once. It must broadcast nevertheless: the source
//     of the first broadcast may have died in the middle of it. (Rule::announce_when_told)
//   - T4 accepts any NEWOBSERVER. With witnesses that are faster than time-outs, two observers can follow each other so
//     closely that the messages arrive in the wrong order, and the emitter then sends to the dead one. But the message
//     of a new observer implies that every process between it and the emitter is dead, and messages of dead processes
//     are ignored. (Rule::believe_the_path, Rule::refuse_the_dead)
//   - T5 passes every broadcast on, without end. Here each is passed on once (Broadcast::pass_on).
//   - In the text of Chen et al. that section 2 describes, trust lasts until delta after a heartbeat was sent; T2
//     counts from its reception. Here it is as in T2.
//   - In the paper, only heartbeats show that the emitter lives. Here every message of it does. But a new emitter may
//     have sent it before NEWOBSERVER arrived, so it tells nothing about the first heartbeat, and takes away nothing of
//     2 delta. (Rule::keep_double_time_out)
//
// What the owner must ensure
// --------------------------
//   - messages between two living processes arrive once and whole; not necessarily in order;
//   - messages that have arrived are handed over before the time: a process that was kept from running must not blame
//     its emitter for that;
//   - all enter an epoch within 2 delta - tau of each other.

#pragma once

#include "base/rules.hpp"
#include "detector/broadcast.hpp"

#include <optional>
#include <vector>

namespace mend::detector {

/// The processes that the witness of a death has told, beside this process.
enum class Told : std::uint8_t {
  nobody,    ///< none, as far as is known: this process must tell the others
  everyone,  ///< all of the launch, by the runtime: the observer of the dead process tells the rest
};

/// The rules of the protocol, one by one, so that a test can leave one out and show that it is needed.
enum class Rule : std::uint8_t {
  tell_the_emitter,      ///< a new observer makes itself known (T3)
  double_time_out,       ///< a new emitter has 2 delta (T3)
  keep_double_time_out,  ///< a message other than a heartbeat never shortens the time that the emitter has
  take_new_observer,     ///< heartbeats go to the new observer (T4)
  announce,              ///< a suspicion is broadcast (T3)
  pass_on,               ///< a broadcast is passed on (T5)
  tell_the_list,         ///< a broadcast tells of all deaths that its source knows, not just of the newest
  announce_when_told,    ///< a process that passes over its emitter broadcasts that, even if a broadcast told it
  believe_the_path,      ///< all processes between a new observer and its emitter are dead
  refuse_the_dead,       ///< a process known to be dead is not accepted as observer
  one_epoch,             ///< messages of an older epoch are ignored
  keep_the_early,        ///< messages of a later epoch wait for it
};

/// The detector, following `Rules` (base/rules.hpp). Use Ring: tests alone leave rules out.
template <class Rules>
class BasicRing {
 public:
  /// The detector is in no ring yet. Throws UsageError for times that cannot work: eta must be positive, and delta
  /// greater.
  BasicRing(ProcessId self, const Timing& timing);

  /// Enters an epoch, later than any before. Throws UsageError if it is not later, or if this process is not a member.
  void enter(Membership membership, Time now, Actions& actions);

  /// Takes `message`, which came from `from`.
  void receive(ProcessId from, const Message& message, Time now, Actions& actions);

  /// Another witness reports that `gone` are dead. Deaths that are already known may be among them.
  void witness(const ProcessSet& gone, Told told, Time now, Actions& actions);

  /// Handles the time `now`. A process that is suspected keeps its place in the ring until it is heard of, or witness()
  /// reports its death.
  void tick(Time now, Actions& actions);

  /// A message of any kind and epoch has come from `from`. If that is the emitter, it lives, and is suspected after
  /// delta at the earliest. A new emitter keeps its 2 delta.
  void hear(ProcessId from, Time now);

  /// This process, or its emitter, was kept from running for `late`, until `now`. That time does not count, and the
  /// emitter has at least two more periods to be heard.
  void be_patient(Time late, Time now);

  /// Sets how long to wait for a heartbeat, beginning with the next one; more than eta.
  void set_delta(Time delta) { timing_.delta = delta; }
  Time delta() const { return timing_.delta; }
  /// Returns when the emitter will be suspected unless a heartbeat comes before; `never` if it is suspected already.
  Time suspects_at() const { return suspects_at_; }

  /// Returns when tick() is to be called next; nothing if this process is alone.
  std::optional<Time> next_deadline() const;

  /// Returns every process known to be dead: D of the paper, and the processes left out of the epoch.
  const ProcessSet& known_dead() const { return dead_; }
  /// Returns the members of the epoch among them. Its messages name no other process.
  ProcessSet dead_members() const;
  /// Returns this process itself if it is alone.
  ProcessId emitter() const { return emitter_; }
  ProcessId observer() const { return observer_; }
  /// Returns true if others have declared this process dead.
  bool fenced() const { return fenced_; }

  /// Returns true if `message` from `from` would change nothing, now or later.
  bool ignores(ProcessId from, const Message& message) const;

  /// Adds all state that determines this core's future, seen from `now`, so that states can be told apart.
  void add_to(transport::Fingerprint& print, Time now) const;

 private:
  static constexpr bool keeps(Rule rule) { return Rules::keep(rule); }

  struct Early {
    ProcessId from;
    Message message;
  };

  const Membership& ring() const { return broadcast_.membership(); }
  bool alone() const { return emitter_ == self_; }
  ProcessId predecessor(ProcessId process) const;
  ProcessId successor(ProcessId process) const;

  void take(ProcessId from, const Message& message, Time now, Actions& actions);
  void take_new_observer(ProcessId from, Time now, Actions& actions);
  void take_deaths(ProcessId from, const Message& message, Time now, Actions& actions);
  void emit(Time now, Actions& actions);
  bool learn(const ProcessSet& gone, Actions& actions);
  void reconnect(Time now, Actions& actions);
  void pass_over(Time now, Actions& actions);
  void announce(Actions& actions);
  bool believes(ProcessId from) const;
  ProcessId find_emitter() const;
  void fence(Actions& actions);
  void send(ProcessId to, Message::Kind kind, Actions& actions) const;

  ProcessId self_;
  Timing timing_;
  Broadcast broadcast_;
  bool entered_ = false;
  bool fenced_ = false;
  ProcessSet dead_;
  ProcessId emitter_;
  ProcessId observer_;
  Time emits_at_{0};     // HB-TIMEOUT
  Time suspects_at_{0};  // SUSP-TIMEOUT
  std::vector<Early> early_;
};

using Ring = BasicRing<AllRules>;

}  // namespace mend::detector
