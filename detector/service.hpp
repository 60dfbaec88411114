// Runs the failure detector of a process in the control thread, beside the application.
//
// The control thread sleeps until something happens: a message on the control network, a word of the runtime, or a
// moment the ring has asked for. It never calls MPI, and what the application or MPI is doing does not delay it.
//
//     runtime (PMIx) ----------+
//     lifelines ---------------+
//     broken connections ------+--> ring --> broadcast to all --> deaths of this process's record,
//     missing heartbeats ------+                                  MPI told, the dead one killed
//
// The lifelines of a machine (detector/local/lifeline.hpp) form a ring too: each process looks at that of the living
// one before it there. So one process is told by the kernel of each death on its machine, and that before anything else
// is.
//
// What is done about a death
// --------------------------
// It is put on record (detector/local/runtime_witness.hpp), where the recovery engine and waiting spares find it, and
// the MPI library is told unless the runtime has done so, which makes every call that waits for the dead one return.
// And it is made true: whoever shares a machine with it kills it. A stopped process dies of that without running again.
//
// Who is held dead and runs all the same - its machine was cut off, or frozen as a whole - learns that from the first
// member that it reaches, or by reaching too few of them, and kills itself.
//
// The control thread also tells of ranks that wait for others for long: see detector/stall/stall_watch.hpp.
//
// Who is silent is not dead yet: see detector/detector.hpp. Delta is at least eta and four times the worst delay with
// which any process of the job woke from a short sleep at the start, and grows when it must. Nor is an emitter on the
// same machine blamed for silence while it could run and is not let.

#pragma once

#include "base/ids.hpp"
#include "detector/detector.hpp"
#include "detector/local/lifeline.hpp"
#include "detector/local/local_process.hpp"
#include "detector/local/runtime_witness.hpp"
#include "detector/stall/stall_teller.hpp"
#include "transport/control/control_network.hpp"

#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace mend::detector {

/// What processes must know of each other.
struct Peer {
  NodeId node;
  LocalIdentity identity;
  transport::ControlAddress address;
  int lifeline = Lifeline::none;
};

/// The worst of ten delays with which this process wakes from a sleep of a millisecond.
Time measure_wake_up_delay();

/// The shortest delta that is safe where processes wake up with this delay.
Time safe_delta(Time eta, Time wake_up_delay);

class Service {
 public:
  struct Counters {
    transport::ControlNetwork::Counters network;
    std::uint64_t old_messages = 0;  ///< of an older epoch: ignored
    std::uint64_t garbage = 0;       ///< messages that no detector says
    std::uint64_t suspicions = 0;    ///< processes this one found silent, and then held dead
    std::size_t unseen = 0;          ///< deaths of which the runtime should have told, and has not
    Time longest_silence{0};         ///< of an emitter, between two heartbeats
    Time delta{0};                   ///< as it is now
  };

  /// Listens at `host`. Local. Throws EnvironmentError when that is not possible.
  Service(ProcessId self, transport::Ipv4 host, const Timing& timing, RuntimeWitness& runtime,
          const StallLimits& stalls = {});
  /// Ends the control thread. The others must have called end() too, or will hold this process dead.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Where the others find this process.
  const transport::ControlAddress& address() const { return network_.address(); }
  /// Where those of its machine find its lifeline.
  int lifeline() const { return lifeline_.descriptor(); }

  /// Starts the control thread. `peers`: all of the job, this process too. Local; to be called once.
  void start(const std::map<ProcessId, Peer>& peers);

  /// One more of the job, started later than the others. Local; before the epoch that it is a member of.
  void add(ProcessId process, const Peer& peer);

  /// Enters an epoch. All members call it within 2 delta of each other.
  void enter(Membership membership);

  /// The job is over: holds nobody dead any more, and goes on telling others that this process lives. Returns when
  /// that holds; nothing is said to the runtime from then on. Local.
  void end();

  /// After the end: has the library take those of this machine for dead that are gone, however they went. Returns at
  /// once.
  void let_go_of_the_gone();

  /// As they were a moment ago. Waits for the control thread, which never blocks.
  Counters counters();

 private:
  /// Another process of the same machine.
  struct Neighbour {
    LocalProcess process;
    std::shared_ptr<const NeighbourLifeline> lifeline;
  };

  void meet(ProcessId process, const Peer& peer);
  void run();
  void turn();
  bool emitter_is_kept_waiting(Time now) const;
  void arrived(ProcessId from, std::span<const std::byte> bytes);
  void broken(ProcessId peer);
  void told_by_kernel(ProcessId process);
  void told_by_runtime(ProcessId process);
  void perform();
  void hold_dead(const ProcessSet& died);
  void ask_for_causes(Time now);
  bool speaks_for_machine() const;
  void look_at_lifeline();
  [[noreturn]] void leave(const char* why);
  template <class Work>
  void ask(Work work);

  ProcessId self_;
  RuntimeWitness& runtime_;
  transport::ControlNetwork network_;
  Lifeline lifeline_;
  std::map<ProcessId, transport::ControlAddress> addresses_;
  NodeId own_node_;
  std::map<ProcessId, Neighbour> neighbours_;
  ProcessSet stillborn_;  // of the same machine, gone before they were met
  std::vector<NodeId> nodes_;
  std::thread thread_;

  // Of the control thread alone, once that runs.
  Detector detector_;
  Actions actions_;
  StallTeller stalls_;
  std::vector<std::byte> outgoing_;
  bool stopping_ = false;
  bool ended_ = false;
  std::map<ProcessId, Time> unexplained_;  // dead neighbours, until the kernel has said how they ended, or then
  ProcessSet told_;                        // dead, by the runtime's word
  ProcessSet let_go_;                      // after the end
  Counters counters_;
};

}  // namespace mend::detector
