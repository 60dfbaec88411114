// The failure detector of the framework. The processes introduce themselves over MPI, and then watch each other over
// the control network for the rest of the job.

#pragma once

#include "detector/local/runtime_witness.hpp"
#include "detector/service.hpp"
#include "framework/options.hpp"
#include "spares/roster.hpp"

#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mend {

/// The state of the processes that watch each other.
struct DetectorState {
  Epoch ring;              ///< counts how often they have begun to watch; not the job's recoveries
  detector::Time timeout;  ///< the time without heartbeats after which a process is declared dead
};

/// The data with which other processes watch a process and name it to the runtime. Sent as raw bytes.
struct DetectorPeer {
  ProcessId process;
  detector::Peer peer;
  RuntimeName name;
};

/// It should outlive MPI: the others expect heartbeats until this process is gone.
class FailureDetector {
 public:
  /// MPI must be initialised. Throws UsageError for times that cannot work.
  explicit FailureDetector(const Options& options);

  /// Introduces the launched processes to each other; from then on they watch each other. Processes that die in the
  /// meantime are left out. Collective over all launched processes. Throws EnvironmentError, and UsageError if the user
  /// names a machine that has no process of the job.
  void begin();

  // --- for processes that join later (framework/spawn/newcomer_host.hpp)

  /// Returns true if the processes watch each other. If not, a process that joins later cannot be watched.
  bool at_work() const { return service_ != nullptr; }
  /// Returns the address of this process. Only while at_work().
  transport::Ipv4 host() const { return peers_.at(self_).address.host; }
  DetectorState state() const { return {ring_, timing_.delta}; }
  /// Returns the machines on which the user wants processes to be started, the best first. After begin().
  const std::vector<NodeId>& places() const { return places_; }
  /// Returns all processes that were ever watched.
  std::vector<DetectorPeer> known_peers() const;
  /// Watches one more process, from the next epoch on. Local.
  void admit(const DetectorPeer& newcomer);

  /// Begins the detector in a process that joins later, instead of begin(). The process listens at `host`, on the
  /// machine of `node`, and has received the state of the others. Returns the data with which the others watch it.
  /// Local. Throws EnvironmentError if it cannot listen.
  DetectorPeer begin_late(ProcessId self, NodeId node, transport::Ipv4 host, const std::vector<DetectorPeer>& others,
                          DetectorState state);

  /// Returns the machines of `members`, in the same order.
  std::vector<Placed> place(const std::vector<ProcessId>& members) const;

  /// From now on `members`, the agreed living processes, watch each other. All of them must call it within about a
  /// second.
  void enter(const std::vector<ProcessId>& members);

  /// Ends the detection with the job: no process is declared dead any more. Local.
  void end();
  /// After end(): MPI stops waiting for processes of this machine that are gone, however they ended. When it returns,
  /// no thread of mend is in the runtime, which the caller may leave. Local.
  void release_dead_processes();

 private:
  void warn_of_untold_stalls() const;
  bool introduce(MPI_Comm base, const std::vector<ProcessId>& members);

  bool wanted_;
  detector::Timing timing_;
  detector::StallLimits stalls_;
  std::vector<std::string> place_names_;
  std::string network_;  ///< interfaces or networks that connections may use; empty: the default choice
  std::vector<NodeId> places_;
  RuntimeWitness runtime_;
  ProcessId self_;
  Epoch ring_;
  std::map<ProcessId, RuntimeName> latecomers_;
  std::map<ProcessId, detector::Peer> peers_;
  std::unique_ptr<detector::Service> service_;
};

}  // namespace mend
