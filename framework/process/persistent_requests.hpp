// The persistent requests of the application (MPI_Send_init and the like). Each belongs to the communicator that it was
// made with. After a recovery that communicator is revoked and still contains the dead processes, so a message that is
// started again with such a request never arrives: a newcomer, which has made its requests again, would wait for it for
// ever. MPI_Start itself does not detect that.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <unordered_map>

namespace mend {

class PersistentRequests {
 public:
  /// Records that the application has made `request` on `comm`. Only requests of communicators whose errors mend
  /// handles are kept, because others outlive recoveries. Main thread.
  void note_made(MPI_Comm comm, MPI_Request request);
  /// Records a request that logged messages start (framework/local_rollback). When they end, it cannot be started any
  /// more: for the library it is one without an effect. Main thread.
  void note_logged(MPI_Request request) { outdated_[request] = true; }
  /// Forgets a request that is freed. Main thread.
  void note_freed(MPI_Request request) { outdated_.erase(request); }
  /// Ends the epoch in which these requests were made. Main thread.
  void end_epoch();
  /// Returns true if any of these requests was made before a recovery. Main thread.
  bool are_outdated(int count, const MPI_Request* requests) const;

 private:
  std::unordered_map<MPI_Request, bool> outdated_;  // by request
};

}  // namespace mend
