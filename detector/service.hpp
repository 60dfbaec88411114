// Runs the failure detector of a process in the control thread, beside the application.
//
// The control thread sleeps until there is an event: a message on the control network, a report of the runtime, or a
// time that the ring has asked for. It never calls MPI, and the activity of the application or MPI does not delay it.
//
//     runtime (PMIx) ----------+
//     lifelines ---------------+
//     broken connections ------+--> ring --> broadcast to all --> deaths of this process's record,
//     missing heartbeats ------+                                  MPI told, the dead one killed
//
// The lifelines of a machine (detector/local/lifeline.hpp) form a ring too: each process looks at the lifeline of the
// living process before it on the machine. So the kernel reports each death to one process of its machine, and before
// any other report.
//
// The handling of a death
// -----------------------
// The death is recorded (detector/local/runtime_witness.hpp), where the recovery engine and waiting spares find it.
// mend reports the death to the MPI library unless the runtime has reported it, so that every call that waits for the
// dead process returns. The processes of the same machine also kill the process. A stopped process then dies without
// running again.
//
// If a process that was declared dead still runs, because its machine was cut off or frozen as a whole, it learns this
// from the first member that it reaches, or because it reaches too few members. It then kills itself.
//
// The control thread also reports ranks that wait for others for a long time (detector/stall/stall_watch.hpp), and
// tells `mend run` the state of processes on other nodes (detector/status/status_relay.hpp).
//
// A silent process is not declared dead at once: see detector/detector.hpp. Delta is at least eta plus four times the
// worst delay with which any process of the job woke from a short sleep at the start, and it grows when needed. An
// emitter on the same machine is not suspected while it could run but has no processor.

#pragma once

#include "base/ids.hpp"
#include "detector/detector.hpp"
#include "detector/local/lifeline.hpp"
#include "detector/local/local_process.hpp"
#include "detector/local/runtime_witness.hpp"
#include "detector/stall/stall_teller.hpp"
#include "detector/status/status_relay.hpp"
#include "transport/control/control_network.hpp"

#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace mend::detector {

/// The data that processes need of each other.
struct Peer {
  NodeId node;
  LocalIdentity identity;
  transport::ControlAddress address;
  int lifeline = Lifeline::none;
};

/// Returns the worst of ten delays with which this process wakes from a sleep of a millisecond.
Time measure_wake_up_delay();

/// Returns the shortest delta that is safe for this wake-up delay.
Time safe_delta(Time eta, Time wake_up_delay);

class Service {
 public:
  struct Counters {
    transport::ControlNetwork::Counters network;
    std::uint64_t old_messages = 0;  ///< of an older epoch: ignored
    std::uint64_t garbage = 0;       ///< messages that no detector can have sent
    std::uint64_t suspicions = 0;    ///< processes that this one found silent and then declared dead
    std::size_t unseen = 0;          ///< deaths that the runtime should have reported, and has not
    Time longest_silence{0};         ///< of an emitter, between two heartbeats
    Time delta{0};                   ///< as it is now
  };

  /// Listens at `host`. Local. Throws EnvironmentError if that is not possible.
  Service(ProcessId self, transport::Ipv4 host, const Timing& timing, RuntimeWitness& runtime,
          const StallLimits& stalls = {});
  /// Ends the control thread. The other processes must have called end() too; otherwise they declare this process dead.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Returns the address where the others find this process.
  const transport::ControlAddress& address() const { return network_.address(); }
  /// Returns the descriptor by which the processes of its machine find its lifeline.
  int lifeline() const { return lifeline_.descriptor(); }

  /// Starts the control thread. `peers`: all processes of the job, including this one. Local; to be called once.
  void start(const std::map<ProcessId, Peer>& peers);

  /// Adds a process of the job that was started later than the others. Local; before the epoch that it is a member of.
  void add(ProcessId process, const Peer& peer);

  /// Enters an epoch. All members call it within 2 delta - tau of each other (detector/ring.hpp).
  void enter(Membership membership);

  /// Call it when the job is over. From then on, declares no process dead, and continues to report to others that this
  /// process lives. Returns when that is in effect; nothing is sent to the runtime from then on. Local.
  void end();

  /// After the end: makes the library consider those processes of this machine dead that are gone for any reason.
  /// Returns when that is done: the caller leaves the runtime next, and no other thread may use it then.
  void release_dead_processes();

  /// Returns recent counters. Waits for the control thread, which never blocks.
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
  ProcessSet living_others() const;
  void arrived(ProcessId from, std::span<const std::byte> bytes);
  void broken(ProcessId peer);
  void told_by_kernel(ProcessId process);
  void told_by_runtime(ProcessId process);
  void perform();
  void hold_dead(const ProcessSet& died);
  void hold_stuck_dead(ProcessId process, Time held);
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

  // Used only by the control thread, once it runs.
  Detector detector_;
  Actions actions_;
  StallTeller stalls_;
  StatusRelay status_;
  std::vector<std::byte> outgoing_;
  bool stopping_ = false;
  bool ended_ = false;
  std::map<ProcessId, Time> unexplained_;  // dead neighbours, until the kernel reports their end, or until this time
  ProcessSet told_;                        // deaths that the runtime has reported
  ProcessSet let_go_;                      // after the end: the gone processes that were reported to the library
  Counters counters_;
};

}  // namespace mend::detector
