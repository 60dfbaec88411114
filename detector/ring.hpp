// The failure detector of Bosilca et al., "Failure Detection and Propagation in HPC Systems" (SC 2016, extended in
// IJHPCA 2018), algorithm 1: who is alive is observed along a ring; who is dead is told by broadcast.
//
// The picture
// -----------
// Processes stand in a ring in the order of their numbers. Each sends a heartbeat to its successor, its observer,
// every eta, and expects one from its predecessor, its emitter:
//
//     ... --> 3 --> 4 --> 5 --> 6 --> ...        5 observes 4; 4 emits to 5
//
// An observer that hears nothing for delta suspects its emitter. Its owner makes sure (detector/detector.hpp), or takes
// the suspicion for the truth, as the paper does. When the emitter is held dead, the observer takes the next
// predecessor not known dead as its emitter, tells it so (NEWOBSERVER), gives it 2 delta for its first heartbeat, and
// broadcasts whom it knows dead (detector/broadcast.hpp). So quiet times cost each process one message every eta,
// whatever their number, and a death is known everywhere delta and a logarithmic time after it.
//
// Why it holds
// ------------
// If every message takes at most tau, and delta > eta + tau:
//   P1  Nobody is suspected that lives. Between two heartbeats of an emitter there are at most eta + tau at its
//       observer; and a new emitter hears of its observer and is heard within 2 tau.
//   P2  Every death comes to be known everywhere. Let q be the closest living successor of one that died. Whoever q
//       takes as its emitter in the end lives, or q would suspect it; so q has passed over the dead one, and whenever
//       it passes over anybody it broadcasts all whom it knows dead. q lives: so everyone hears.
//   P3  That takes no longer than T(f) = f(f+1) delta + f tau + f(f+1)/2 B(n) after f deaths that overlap, for f up
//       to floor(log2 n) - 1, where B(n) is the time of a broadcast (theorem 1).
//
// Other witnesses - the runtime, a broken connection - may know of a death before the ring does. It is then acted on
// at once, as if the time had run out.
//
// A process that is held dead and lives (it was stopped, or cut off) is told by whoever hears of it again (FENCE) and
// by every list that names it. It says so to its owner, once, and is silent from then on. But it does not
// take that from those who are an epoch behind, nor from those whom it holds dead itself, unless their number is lower:
// of two that hold each other dead one must give in.
//
// Epochs
// ------
// A ring belongs to an epoch. When processes join or are agreed to have left, everyone enters the next epoch with the
// same membership; messages of an older one are ignored, and what comes too early is kept until this process gets
// there. Deaths that are known here and not agreed on are taken along. Whoever enters is as a new emitter to its
// observer: it has 2 delta.
//
// Where the text of the paper does not do
// ---------------------------------------
// tests/detector/ring_explorer_test.cpp has the shortest run in which the text fails.
//   - T5 adds to D the one process that the broadcast is about, and not the list that comes with it. If a source dies
//     in the middle of its broadcast, those that it did not reach never hear of the death it told: its observer, which
//     did hear, passes over both. (Rule::tell_the_list) So the list is believed, and it alone is sent.
//   - T5 leaves emitter alone when it is emitter that the broadcast is about; then one time-out more runs before the
//     ring closes, though everybody knows. Here the observer passes over it at once. It must broadcast all the same:
//     who had told it may have died with the telling half done. (Rule::announce_when_told)
//   - T4 takes any NEWOBSERVER. With witnesses that are faster than time-outs, two observers can follow each other so
//     closely that the messages arrive the wrong way round, and the emitter then sends to the dead one. But a new
//     observer says that everyone between it and the emitter is dead, and the dead are not listened to.
//     (Rule::believe_the_path, Rule::refuse_the_dead)
//   - T5 passes every broadcast on, without end. Each is passed on once (Broadcast::pass_on).
//   - The text of Chen et al. that section 2 describes trusts until delta after a heartbeat was sent; T2 counts from
//     when it was received. This is T2.
//
// What the owner must keep
// ------------------------
//   - messages between two living processes arrive once and whole; not necessarily in order;
//   - what has arrived is handed over before the time is told: a process that was kept from running must not blame its
//     emitter for that;
//   - all enter an epoch within 2 delta - tau of each other.

#pragma once

#include "base/rules.hpp"
#include "detector/broadcast.hpp"

#include <optional>
#include <vector>

namespace mend::detector {

/// Who else has been told of a death by the witness that told this process.
enum class Told : std::uint8_t {
  nobody,    ///< as far as is known: this process must tell the others
  everyone,  ///< of the launch, by the runtime: it is enough that the observer of the dead tells those beyond
};

/// The rules of the protocol one by one, so that tests can leave one out and see it missed.
enum class Rule : std::uint8_t {
  tell_the_emitter,    ///< a new observer makes itself known (T3)
  double_time_out,     ///< a new emitter has 2 delta (T3)
  take_new_observer,   ///< heartbeats go to the new observer (T4)
  announce,            ///< a suspicion is broadcast (T3)
  pass_on,             ///< a broadcast is passed on (T5)
  tell_the_list,       ///< a broadcast tells of all deaths that its source knows, not just of the newest
  announce_when_told,  ///< who passes over its emitter broadcasts that, even if a broadcast has told it
  believe_the_path,    ///< all between a new observer and its emitter are dead
  refuse_the_dead,     ///< who is known dead is not taken as observer
  one_epoch,           ///< messages of an older epoch are ignored
  keep_the_early,      ///< messages of a later epoch wait for it
};

/// The detector, following `Rules` (base/rules.hpp). Use Ring: tests alone leave rules out.
template <class Rules>
class BasicRing {
 public:
  /// In no ring yet. Throws UsageError for times that cannot work: eta must be positive, and delta greater.
  BasicRing(ProcessId self, const Timing& timing);

  /// Enters an epoch, later than any before. Throws UsageError if it is not, or if this process is not a member.
  void enter(Membership membership, Time now, Actions& actions);

  /// `message` has come from `from`.
  void receive(ProcessId from, const Message& message, Time now, Actions& actions);

  /// Another witness says that `gone` are dead. Those already known to be may be among them.
  void witness(const ProcessSet& gone, Told told, Time now, Actions& actions);

  /// It is `now`. Whoever is suspected then keeps its place in the ring: until it is heard of, or witness() says that
  /// it is dead.
  void tick(Time now, Actions& actions);

  /// Something other than a heartbeat has come from the emitter: it lives.
  void hear(Time now) { suspects_at_ = now + timing_.delta; }

  /// This process, or its emitter, was kept from running for `late`, until `now`: that time does not count, and the
  /// emitter has two more periods at least to be heard.
  void be_patient(Time late, Time now);

  /// Waits this long for a heartbeat, beginning with the next; more than eta.
  void set_delta(Time delta) { timing_.delta = delta; }
  Time delta() const { return timing_.delta; }
  /// When the emitter is suspected, unless a heartbeat comes before; `never` when it is.
  Time suspects_at() const { return suspects_at_; }

  /// When tick() is to be called next; nothing when this process is alone.
  std::optional<Time> next_deadline() const;

  /// Every process known to be dead: D of the paper, and those whom the epoch began without.
  const ProcessSet& known_dead() const { return dead_; }
  /// This process itself, when it is alone.
  ProcessId emitter() const { return emitter_; }
  ProcessId observer() const { return observer_; }
  /// Whether others hold this process dead.
  bool fenced() const { return fenced_; }

  /// Whether `message` from `from` would change nothing, now or later.
  bool ignores(ProcessId from, const Message& message) const;

  /// Everything that decides this core's future, seen from `now`, for telling states apart.
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
