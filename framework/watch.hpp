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

  /// Has the processes of `base` tell each other where they are. Collective over `base`, whose ranks are `members`;
  /// may be repeated with fewer when one has died. Returns where each process is placed. Throws as MPI calls do.
  std::vector<Placed> introduce(MPI_Comm base, const std::vector<ProcessId>& members);

  /// From now on `members` watch each other. All of them call it, within a second or so.
  void enter(Epoch epoch, const std::vector<ProcessId>& members);

  /// The job is over: nobody is held dead any more. Local.
  void end();

 private:
  bool wanted_;
  detector::Timing timing_;
  RuntimeWitness runtime_;
  std::map<ProcessId, detector::Peer> peers_;
  std::unique_ptr<detector::Service> service_;
  bool started_ = false;
};

}  // namespace mend
