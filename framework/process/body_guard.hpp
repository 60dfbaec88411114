// Calls that a body of mend::run must not make, though programs written for MPI alone do: MPI_Finalize, exit,
// MPI_Comm_free of the session's communicator, and MPI calls in MPI_COMM_WORLD, which would hang because spares take no
// part in them. Each of these calls ends the job with a sentence.
//
// The first three are intercepted in MPI's profiling interface and in an exit handler. MPI_COMM_WORLD is revoked when
// the job has begun, so that calls in it fail and reach its error handler. Calls that open files or make windows do not
// reach it, so they are intercepted in the profiling interface as well.

#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace mend {

/// The way in which a forbidden call is refused.
struct BodyRules {
  std::function<MPI_Comm()> session_comm;  ///< the communicator that the body must not free
  std::function<void(const std::string& sentence)>
      end_job;                  ///< returns when all processes have agreed on the end; never throws
  std::function<void()> leave;  ///< then, in a process that exits: leaves MPI together with the others
};

/// Sets the rules for all bodies from now on. Errors of calls in bodies that use MPI_COMM_SELF, MPI_COMM_WORLD or no
/// valid communicator are handled as those of session.comm() are (throw_errors_of). Main thread. Local.
void set_body_rules(BodyRules rules);

/// Ends the job with `sentence`, which says what the body has done wrong. Returns, when the job has ended, an error
/// code for the MPI call to return. Never throws, because the call may come from a destructor. In a body.
int refuse_in_body(const std::string& sentence);

/// The same for a call that must not be made: throws UsageError where that can be caught, in the thread of the body.
/// Returns an error code if the job has ended, and outside of bodies.
int refuse_wrong_use(const std::string& sentence);

/// Refuses `call`, which would make a communicator of groups alone, in a body. Returns MPI_SUCCESS outside of bodies.
int refuse_groups(const char* call);

/// Refuses `call`, which would make partitioned messages, in a body when MPI_COMM_WORLD is forbidden: Open MPI 5.0
/// would duplicate it for them, and crash. Returns MPI_SUCCESS otherwise.
int refuse_partitioned(const char* call);

/// Returns true if `comm` belongs to mend and the body is about to free it.
bool must_be_kept(MPI_Comm comm);
/// The same as refuse_in_body for `call`, which would free session.comm().
int refuse_to_free(const char* call);

/// During its lifetime, the main thread is in a body.
class InBody {
 public:
  InBody();
  ~InBody();
  InBody(const InBody&) = delete;
  InBody& operator=(const InBody&) = delete;
};

/// Marks that mend::run has returned and no body runs any more. If the caller has initialised MPI and MPI_COMM_WORLD
/// was forbidden, calls in it now end the process with a sentence, because it is revoked. Main thread. Local.
void end_bodies();

/// From now on, MPI_COMM_WORLD means session.comm() in bodies (framework/process/hooks/world_substitution.hpp) if
/// `is_so`, and otherwise itself. Main thread. Local.
void take_session_for_world(bool is_so);

/// During its lifetime, MPI_COMM_WORLD means itself: for mend's own work within a body.
class WorldItself {
 public:
  WorldItself();
  ~WorldItself();
  WorldItself(const WorldItself&) = delete;
  WorldItself& operator=(const WorldItself&) = delete;

 private:
  bool before_;
};

/// Makes calls in MPI_COMM_WORLD fail from now on, and refuses bodies that make them. Every process calls it when none
/// needs MPI_COMM_WORLD any more. Local.
void forbid_world();

/// Ends the job if MPI_Init was called in a body; returns MPI_SUCCESS if it was not. Main thread.
int refuse_to_initialise();

}  // namespace mend
