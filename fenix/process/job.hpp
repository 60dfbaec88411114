// Fenix on mend: a job whose course the application has in its own hands. It calls Fenix_Init in the middle of main and
// goes on; what mend::run does around a body is done here between two of its calls.
//
//   Fenix_Init      starts the job; spares wait inside until they have a rank, or exit when the job is over
//   a failure       is met by an MPI call, or by one of Fenix's functions: recover() takes this rank through the same
//                   ballot, job decision and rebuild as Session::repair, then resume() calls back and jumps, throws or
//                   returns
//   Fenix_Finalize  finishes as a body does that returns
//
// longjmp runs no destructors. So whoever calls resume() has none to run: the functions with C linkage, which hold
// nothing but numbers and pointers, call one function of C++ that returns, and then resume().

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

/// The variables that Fenix_Init writes, now and after each recovery; any but `resume_point` may be null.
struct Outputs {
  int* role;
  MPI_Comm* comm;
  int* error;
  jmp_buf* resume_point;
};

/// Callbacks that are called where a call is interrupted that goes on after them.
struct InPlace {
  bool calls_back = false;
  bool interrupted = false;  ///< by another failure: what is called from now on does nothing, and all begins anew
};

/// All that this process knows of its job. There is one, from Fenix_Init until the process ends.
struct State {
  State();
  ~State();

  std::unique_ptr<Job> job;  ///< from Fenix_Init until MPI is left
  Outputs outputs{};
  int wanted_ranks = 0;              ///< as the launch and Fenix_Init say; fewer if processes died before
  bool processes_have_slots = true;  ///< the slot of a process that is no spare is its number
  bool active = false;               ///< between Fenix_Init and the end of Fenix_Finalize
  bool finalized = false;            ///< of a spare that goes on when the job is over: from the end of Fenix_Init
  Fenix_Rank_role last_role = FENIX_ROLE_INITIAL_RANK;  ///< the one that this rank or spare had when it was finalized
  bool is_unrepaired = false;    ///< a failure was resumed from with FENIX_RECOVERY_NOOP, in this epoch
  int last_error = MPI_SUCCESS;  ///< MPI's, of the most recent failure
  Callbacks callbacks;
  std::vector<int> failed;     ///< ranks whose processes died in the most recent failure, as they were numbered then
  std::vector<int> recovered;  ///< of these, those that were taken over, as they are numbered now
  std::map<int, std::unique_ptr<Group>> groups;
  std::unique_ptr<MessageLogs> logs;  ///< while active
  InPlace in_place;
  Communicator farewell;  ///< of all ranks, after Fenix_Finalize: they leave MPI together

  Engine& engine() { return job->engine(); }
};

State& state();

/// Fenix_Init, until there is a rank to play. Ends the process when there is none. Collective over all processes.
void start(const StartArguments& arguments, const Outputs& outputs);

/// Writes the outputs.
void report();

/// Recovers together with the other ranks; ends the process when the job is over. `mpi_error`: what met the failure.
/// `in_place`: the call that met it goes on, and so do receives that are logged.
void recover(int mpi_error, bool in_place = false);

/// With FENIX_MLOG_RECOVERY_INLINE: recovers, unless that `is_recovered`, and calls the application back until no
/// failure comes between. Returns false if the call cannot go on, because there are fewer ranks than before: then the
/// caller must resume. What callbacks throw is thrown.
bool go_on_in_place(bool is_recovered);

/// Fenix_Finalize; false when a failure came first and has been recovered from.
bool finish();

/// Calls the application back and goes on as it has chosen: returns only if that is FENIX_RESUME_RETURN.
void resume();
/// Returns true if the application wants to recover from failures; otherwise they are only reported.
bool recovers();
/// Throws what FENIX_RESUME_THROW throws, for the most recent failure.
[[noreturn]] void throw_failure();

/// This process's part in the job.
Fenix_Rank_role role();
/// The part of a rank of the resilient communicator.
Fenix_Rank_role role_of(int rank);
/// Returns the number of ranks that are missing because processes have died.
int missing_ranks();

/// The application does what it may not, in a call of MPI: ends the job with a sentence, or does what
/// FENIX_UNHANDLED_MODE says, and returns MPI's code.
int refuse_in_program(const std::string& sentence);

/// Handles an error of MPI in the application's own code.
void receive_error(MPI_Comm comm, int code, bool failure);

/// Waits until all ranks have come here, so that none leaves while another is in a call on the communicator that
/// Fenix_Finalize has left to the program. Not needed if nobody has died: MPI_Finalize waits itself.
void wait_for_others();

/// Leaves MPI, in the way that all processes have agreed on; done once. For MPI_Finalize, and for processes that exit
/// without it.
void leave_mpi();

/// Whether the job can be spoken of; says what is wrong if not.
bool is_active(const char* function);

}  // namespace mend::fenix
