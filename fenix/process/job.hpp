// Fenix on mend: a job whose control flow belongs to the application. It calls Fenix_Init in the middle of main and
// continues. The Fenix functions do the work that mend::run does around a body.
//
//   Fenix_Init      starts the job; spares wait inside until they have a rank, or exit when the job is over
//   a failure       is met by an MPI call, or by one of Fenix's functions: recover() takes this rank through the same
//                   ballot, job decision and rebuild as Session::repair, then resume() calls back and jumps, throws or
//                   returns
//   Fenix_Finalize  finishes the job as the return of a body does
//
// longjmp runs no destructors. So a caller of resume() must hold no object with a destructor: the functions with C
// linkage hold only numbers and pointers, call one function of C++ that returns, and then call resume().

#pragma once

#include "fenix/fenix.h"
#include "fenix/process/callbacks.hpp"
#include "fenix/process/start_options.hpp"
#include "framework/recovery/job.hpp"
#include "transport/mpi.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mend::fenix {

class Group;
class MessageLogs;

/// The variables that Fenix_Init writes, now and after each recovery. Each may be null; without `resume_point`, `comm`
/// too.
struct Outputs {
  int* role;
  MPI_Comm* comm;
  int* error;
  jmp_buf* resume_point;
};

/// The state of callbacks that are called in an interrupted call, which continues after them.
struct InPlace {
  bool calls_back = false;
  bool interrupted = false;  ///< by another failure: later calls do nothing, and all begins anew
};

/// The data of this process about its job. There is one object, from Fenix_Init until the process ends.
struct State {
  State();
  ~State();

  std::unique_ptr<Job> job;  ///< from Fenix_Init until MPI is left
  Outputs outputs{};
  int wanted_ranks = 0;              ///< from the launch and Fenix_Init; fewer if processes died before
  bool processes_have_slots = true;  ///< the slot of a process that is no spare is its number
  bool active = false;               ///< between Fenix_Init and the end of Fenix_Finalize
  bool finalized = false;            ///< of a spare that continues after the job: from the end of Fenix_Init
  Fenix_Rank_role last_role = FENIX_ROLE_INITIAL_RANK;  ///< the one that this rank or spare had when it was finalized
  bool is_unrepaired = false;    ///< the program has resumed after a failure with FENIX_RECOVERY_NOOP, in this epoch
  int last_error = MPI_SUCCESS;  ///< MPI's, of the most recent failure
  Callbacks callbacks;
  std::size_t recoveries_seen = 0;  ///< recoveries of the job of which the program knows
  std::vector<int> failed;          ///< ranks whose processes died in the most recent failure, as numbered then
  std::vector<int> recovered;       ///< of these, those that were taken over, as they are numbered now
  std::map<int, std::unique_ptr<Group>> groups;
  std::unique_ptr<MessageLogs> logs;  ///< while active
  InPlace in_place;
  Communicator farewell;  ///< of all ranks, after Fenix_Finalize: they leave MPI together

  Engine& engine() { return job->engine(); }
};

State& state();

/// Returns the resilient communicator: of the ranks, without spares. Local.
MPI_Comm resilient();

/// Does the work of Fenix_Init: returns when this process has a rank. Ends the process if it never gets one. Collective
/// over all processes.
void start(const StartArguments& arguments, const Outputs& outputs);

/// Writes the outputs.
void report();

/// Recovers together with the other ranks; ends the process if the job is over. `mpi_error`: the error code of the call
/// that met the failure. `in_place`: this call continues, and so do logged receives.
void recover(int mpi_error, bool in_place = false);

/// With FENIX_MLOG_RECOVERY_INLINE: recovers, unless `is_recovered`, and calls the application's callbacks, until no
/// failure interrupts this. Returns false if the call cannot continue, because there are fewer ranks than before: in
/// that case the caller must resume. Throws the exceptions of callbacks.
bool go_on_in_place(bool is_recovered);

/// Does the work of Fenix_Finalize. Returns false if a failure came first and the job has recovered from it.
bool finish();

/// Calls the application's callbacks, and continues as FENIX_RESUME_MODE says: returns only with FENIX_RESUME_RETURN.
void resume();
/// Returns true if the application wants to recover from failures; otherwise they are only reported.
bool recovers();
/// Throws the exception of FENIX_RESUME_THROW for the most recent failure.
[[noreturn]] void throw_failure();

/// Returns the role of this process in the job.
Fenix_Rank_role role();
/// Returns the role of a rank of the resilient communicator.
Fenix_Rank_role role_of(int rank);
/// Returns the number of ranks that are missing because processes have died.
int missing_ranks();

/// Handles a mistake of the application in a call of MPI as FENIX_UNHANDLED_MODE says: ends the job with a sentence, or
/// returns an error code of MPI.
int refuse_in_program(const std::string& sentence);

/// Handles an error of MPI in the application's own code.
void receive_error(MPI_Comm comm, int code, bool failure);

/// Waits until all ranks have called this, so that none leaves while another is in a call on the communicator that
/// Fenix_Finalize has left to the program. Not needed if no process has died: MPI_Finalize waits itself.
void wait_for_others();

/// Leaves MPI, in the way that all processes have agreed on. Later calls do nothing. For MPI_Finalize, and for
/// processes that exit without it.
void leave_mpi();

/// Returns true between Fenix_Init and Fenix_Finalize; otherwise prints a warning.
bool is_active(const char* function);

}  // namespace mend::fenix
