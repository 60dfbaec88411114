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

/// How those who watch each other stand.
struct Standing {
  Epoch ring;              ///< counts how often they have begun to: not the job's recoveries
  detector::Time timeout;  ///< of silence, after which a process is held dead
};

/// What the others must know of a process to watch it and to speak of it with the runtime. Sent as it is.
struct Acquaintance {
  ProcessId process;
  detector::Peer peer;
  RuntimeName name;
};

/// It should outlive MPI: until this process is gone, the others want to hear that it lives.
class FailureDetector {
 public:
  /// MPI must be initialised. Throws UsageError for times that cannot work.
  explicit FailureDetector(const Options& options);

  /// Has the processes launched tell each other where they are, and from then on they watch each other. Collective over
  /// all of them; whoever dies meanwhile is left out. Throws EnvironmentError, and UsageError for
  /// machines that the job is not on.
  void begin();

  // --- for processes that join later (framework/spawn/recruiter.hpp)
  // ----------------------------------------------------

  /// Whether processes watch each other: one that joins later cannot be watched otherwise.
  bool at_work() const { return service_ != nullptr; }
  /// Where this process can be reached. Only while at_work().
  transport::Ipv4 host() const { return peers_.at(self_).address.host; }
  Standing standing() const { return {ring_, timing_.delta}; }
  /// The machines that the user would have processes started on, the best first; after begin().
  const std::vector<NodeId>& places() const { return places_; }
  /// Everyone who has ever been watched.
  std::vector<Acquaintance> acquaintances() const;
  /// One more is to be watched, from the next epoch on. Local.
  void admit(const Acquaintance& newcomer);

  /// In a process that joins later, instead of begin(): it can be reached at `host`, on the machine of `node`, and has
  /// been told how the others stand. Returns what it has to say of itself. Local. Throws EnvironmentError when it
  /// cannot listen.
  Acquaintance begin_late(ProcessId self, NodeId node, transport::Ipv4 host, const std::vector<Acquaintance>& others,
                          Standing standing);

  /// Where `members` are, in their order.
  std::vector<Placed> place(const std::vector<ProcessId>& members) const;

  /// From now on `members` watch each other: the living, as agreed on. All of them call it, within a second or so.
  void enter(const std::vector<ProcessId>& members);

  /// The job is over: nobody is held dead any more. Local.
  void end();
  /// After that: nobody of this machine who is gone is waited for any more in MPI, however they went. Local.
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
