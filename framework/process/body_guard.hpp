// What programs do that were written for MPI alone, and what a body of mend::run must not do: MPI_Finalize, exit,
// MPI_Comm_free of the session's communicator, and MPI calls in MPI_COMM_WORLD, in which spares take no part, so that
// they would hang. Each is refused in a sentence, and ends the job.
//
// The first three are met in MPI's profiling interface and on the way out of the process. MPI_COMM_WORLD is revoked
// when the job has begun, so that each call in it ends in its error handler; but for those that open files and make
// windows, which are met in the profiling interface, too.

#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace mend {

/// How what a body must not do is refused.
struct BodyRules {
  std::function<MPI_Comm()> session_comm;                    ///< that it must not free
  std::function<void(const std::string& sentence)> end_job;  ///< returns when all have agreed on the end; never throws
  std::function<void()> leave;  ///< after that, in a process that exits: leaves MPI together with the others
};

/// The rules of the bodies from now on. Main thread. Local.
void set_body_rules(BodyRules rules);

/// While it lives, the main thread is in a body.
class InBody {
 public:
  InBody();
  ~InBody();
  InBody(const InBody&) = delete;
  InBody& operator=(const InBody&) = delete;
};

/// mend::run has returned, and no body comes any more. Where the caller has initialised MPI, calls in MPI_COMM_WORLD
/// end the process in a sentence if it was forbidden: it is revoked. Main thread. Local.
void end_bodies();

/// From now on calls in MPI_COMM_WORLD fail, and bodies that make them are refused. Every process calls it, and none
/// needs MPI_COMM_WORLD any more. Local.
void forbid_world();

}  // namespace mend
