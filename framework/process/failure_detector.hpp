// The failure detector as the framework uses it: the processes introduce themselves over MPI, and are then watched
// over the control network for the rest of the job.

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
struct Standing {
  Epoch ring;              ///< counts how often they have begun to watch; not the job's recoveries
  detector::Time timeout;  ///< the time of silence after which a process is held dead
};

/// What the others must know of a process to watch it and to speak of it with the runtime. Sent as it is.
struct Acquaintance {
  ProcessId process;
  detector::Peer peer;
  RuntimeName name;
};

/// It should outlive MPI: the others expect heartbeats until this process is gone.
class FailureDetector {
 public:
  /// MPI must be initialised. Throws UsageError for times that cannot work.
  explicit FailureDetector(const Options& options);

  /// Introduces the launched processes to each other; from then on they watch each other. Processes that die meanwhile
  /// are left out. Collective over all launched processes. Throws EnvironmentError, and UsageError for machines that
  /// the job is not on.
  void begin();

  // --- for processes that join later (framework/spawn/recruiter.hpp)
  // ----------------------------------------------------

  /// Returns true if the processes watch each other. If not, a process that joins later cannot be watched.
  bool at_work() const { return service_ != nullptr; }
  /// The address of this process. Only while at_work().
  transport::Ipv4 host() const { return peers_.at(self_).address.host; }
  Standing standing() const { return {ring_, timing_.delta}; }
  /// The machines on which the user wants processes to be started, the best first. After begin().
  const std::vector<NodeId>& places() const { return places_; }
  /// All processes that were ever watched.
  std::vector<Acquaintance> acquaintances() const;
  /// Watches one more process, from the next epoch on. Local.
  void admit(const Acquaintance& newcomer);

  /// In a process that joins later, instead of begin(): its address is `host`, on the machine of `node`, and it was
  /// told the state of the others. Returns what the others must know of it. Local. Throws EnvironmentError if it cannot
  /// listen.
  Acquaintance begin_late(ProcessId self, NodeId node, transport::Ipv4 host, const std::vector<Acquaintance>& others,
                          Standing standing);

  /// The machines of `members`, in the same order.
  std::vector<Placed> place(const std::vector<ProcessId>& members) const;

  /// From now on `members`, the agreed living processes, watch each other. All of them call it, within about a second.
  void enter(const std::vector<ProcessId>& members);

  /// The job is over: no process is held dead any more. Local.
  void end();
  /// After end(): MPI does not wait any more for processes of this machine that are gone, however they ended. Local.
  void let_go_of_the_gone();

 private:
  void warn_of_untold_stalls() const;
  void introduce(MPI_Comm base, const std::vector<ProcessId>& members);

  bool wanted_;
  detector::Timing timing_;
  detector::StallLimits stalls_;
  std::vector<std::string> place_names_;
  std::vector<NodeId> places_;
  RuntimeWitness runtime_;
  ProcessId self_;
  Epoch ring_;
  std::map<ProcessId, RuntimeName> latecomers_;
  std::map<ProcessId, detector::Peer> peers_;
  std::unique_ptr<detector::Service> service_;
};

}  // namespace mend
