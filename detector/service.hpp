// The failure detector at work: one for each process, beside the application, in a thread of its own.
//
// The control thread sleeps until something happens: a message on the control network, a word of the runtime, or a
// moment the ring has asked for. It never calls MPI, and what the application or MPI is doing does not delay it.
//
//     runtime (PMIx) ----------+
//     broken connections ------+--> ring --> broadcast to all --> deaths of this process's record,
//     missing heartbeats ------+                                  MPI told, the dead one killed
//
// What is done about a death
// --------------------------
// It is put on record (detector/runtime_witness.hpp), where the recovery engine and waiting spares find it, and the
// MPI library is told unless the runtime has done so, which makes every call that waits for the dead one return. And
// it is made true: whoever shares a machine with it kills it. A stopped process dies of that without running again.
//
// Who is held dead and runs all the same - its machine was cut off, or frozen as a whole - learns that from the first
// member that it reaches, and kills itself.
//
// Which half lives
// ----------------
// A cut network looks the same from both sides: the others are silent. Silence counts as death only as long as the
// silent are a minority. Deaths that the kernel or the runtime have confirmed do not count for that. If the others
// that have merely fallen silent are more than those still heard of - or as many, and the lowest process is among
// them - then this process does not act on it. It waits delta for a confirmation, and then kills itself: the other
// side goes on.
//
// Patience
// --------
// Delta grows when it must. At start it is at least eta and four times the worst delay with which any process of the
// job woke from a short sleep; and each observer waits at least three times the longest silence that it has lately
// seen its emitter keep, up to ten times delta. The time in which an observer was itself kept from
// running does not count, nor that in which its emitter, on the same machine, could run and is not let, up to ten delta.
// So an overloaded machine, or a job that is stopped and continued as a whole, costs time and not processes.

#pragma once

#include "base/ids.hpp"
#include "detector/local_process.hpp"
#include "detector/ring.hpp"
#include "detector/runtime_witness.hpp"
#include "transport/control_network.hpp"

#include <future>
#include <map>
#include <thread>
#include <vector>

namespace mend::detector {

/// What processes must know of each other.
struct Peer {
  NodeId node;
  LocalIdentity identity;
  transport::ControlAddress address;
};

/// The worst of ten delays with which this process wakes from a sleep of a millisecond.
Time measure_wake_up_delay();

/// The shortest delta that is safe where processes wake up with this delay.
Time safe_delta(Time eta, Time wake_up_delay);

class Service {
 public:
  struct Counters {
    transport::ControlNetwork::Counters network;
    std::uint64_t old_messages = 0;   ///< of an older epoch: ignored
    std::uint64_t garbage = 0;        ///< messages that no detector says
    std::uint64_t suspicions = 0;     ///< processes this one found silent
    std::size_t unseen = 0;           ///< deaths of which the runtime has said nothing
    Time longest_silence{0};          ///< of an emitter, between two heartbeats
    Time delta{0};                    ///< as it is now
  };

  /// Listens at `host`. Local. Throws EnvironmentError when that is not possible.
  Service(ProcessId self, transport::Ipv4 host, const Timing& timing, RuntimeWitness& runtime);
  /// Ends the control thread. The others must have called end() too, or will hold this process dead.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Where the others find this process.
  const transport::ControlAddress& address() const { return network_.address(); }

  /// Starts the control thread. `peers`: all of the job, this process too. Local; to be called once.
  void start(const std::map<ProcessId, Peer>& peers);

  /// Enters an epoch. All members call it within 2 delta of each other.
  void enter(Membership membership);

  /// The job is over: holds nobody dead any more, and goes on telling others that this process lives. Returns when
  /// that holds; nothing is said to the runtime from then on. Local.
  void end();

  /// As they were a moment ago. Waits for the control thread, which never blocks.
  Counters counters();

 private:
  void run();
  void turn();
  bool emitter_is_kept_waiting(Time now) const;
  Time next_deadline() const;
  void arrived(ProcessId from, std::span<const std::byte> bytes);
  void heard(ProcessId emitter, Time now);
  void broken(ProcessId peer);
  void told_by_runtime(ProcessId process);
  void perform();
  void hold_dead(const ProcessSet& died);
  void judge();
  void hand_over(const ProcessSet& dead);
  bool outnumbered() const;
  [[noreturn]] void leave(const char* why);
  bool is_confirmed(ProcessId process) const;
  template <class Work>
  void ask(Work work);

  ProcessId self_;
  Timing timing_;
  RuntimeWitness& runtime_;
  transport::ControlNetwork network_;
  std::map<ProcessId, LocalProcess> neighbours_;  // of the same machine
  std::thread thread_;

  // Of the control thread alone, once that runs.
  Ring ring_;
  Membership membership_;
  Actions actions_;
  std::vector<std::byte> outgoing_;
  bool stopping_ = false;
  bool ended_ = false;
  ProcessSet told_;       // dead, by the runtime's word
  ProcessSet held_back_;  // dead by silence alone, and so many that it is not acted on
  Time leaves_at_{0};     // when held_back_ is not empty
  ProcessId heard_of_;    // the emitter, and when it was heard of last
  Time heard_at_{0};
  Time silence_{0};  // the longest lately
  Counters counters_;
};

}  // namespace mend::detector
