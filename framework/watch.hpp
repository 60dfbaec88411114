// The failure detector as the framework uses it: the processes introduce themselves over MPI, and are then watched
// over the control network for the rest of the job.

#pragma once

#include "detector/runtime_witness.hpp"
#include "detector/service.hpp"
#include "framework/options.hpp"
#include "spares/roster.hpp"

#include <mpi.h>

#include <map>
#include <memory>
#include <vector>

namespace mend {

/// It should outlive MPI: until this process is gone, the others want to hear that it lives.
class Watch {
 public:
  /// MPI must be initialised. Throws UsageError for times that cannot work.
  explicit Watch(const Options& options);

  /// Has the processes launched tell each other where they are, and from then on they watch each other. Collective over
  /// all of them; whoever dies meanwhile is left out. Throws EnvironmentError.
  void begin();

  /// Where `members` are, in their order.
  std::vector<Placed> place(const std::vector<ProcessId>& members) const;

  /// From now on `members` watch each other: the living, as agreed on for `epoch`. All of them call it, within a second
  /// or so.
  void enter(Epoch epoch, const std::vector<ProcessId>& members);

  /// The job is over: nobody is held dead any more. Local.
  void end();

 private:
  void introduce(MPI_Comm base, const std::vector<ProcessId>& members);
  void enter_ring(Epoch ring, const std::vector<ProcessId>& members);

  bool wanted_;
  detector::Timing timing_;
  RuntimeWitness runtime_;
  std::map<ProcessId, detector::Peer> peers_;
  std::unique_ptr<detector::Service> service_;
};

}  // namespace mend
