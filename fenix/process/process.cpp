// Fenix's functions on processes. A function that may recover from a failure holds no object with a destructor, because
// longjmp may leave it.

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "fenix/fenix.h"
#include "fenix/mlog/message_logs.hpp"
#include "fenix/process/job.hpp"
#include "fenix/process/slots.hpp"

#include <algorithm>

namespace {

using namespace mend::fenix;

bool failure_is_known() {
  const mend::ErrorsReturned quiet;
  const MessageLogs::Paused unlogged(message_logs());
  const MPI_Comm comm = state().engine().epoch_state().application.get();
  int waiting = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &waiting,
             MPI_STATUS_IGNORE);  // the library reports deaths while it makes progress
  return state().engine().knows_of_failure() || mend::is_revoked(comm);
}

}  // namespace

void mend_fenix_start(int* role, MPI_Comm comm, MPI_Comm* new_comm, int* argc, char*** argv, int spares, int spawn,
                      MPI_Info info, int* error, jmp_buf* resume_point) {
  start({comm, argc, argv, spares, spawn, info}, {role, new_comm, error, resume_point});
}

void mend_fenix_report() { report(); }

int Fenix_Initialized(int* flag) {
  *flag = state().active ? 1 : 0;
  return FENIX_SUCCESS;
}

int Fenix_Finalized(int* flag) {
  *flag = state().finalized ? 1 : 0;
  return FENIX_SUCCESS;
}

int Fenix_Process_detect_failures(int do_recovery) {
  if (!is_active("Fenix_Process_detect_failures")) return FENIX_ERROR_UNINITIALIZED;
  if (!failure_is_known()) return FENIX_SUCCESS;
  if (do_recovery != 0 && recovers()) {
    if (state().in_place.calls_back) {
      state().in_place.interrupted = true;
      resume();
      return FENIX_ERROR_PROCESS_FAILURE;
    }
    if (message_logs().recovers_in_place()) {
      if (go_on_in_place(false)) return FENIX_SUCCESS;
      resume();
      return FENIX_ERROR_PROCESS_FAILURE;
    }
    recover(MPIX_ERR_PROC_FAILED);
    resume();
  }
  return FENIX_ERROR_PROCESS_FAILURE;
}

int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks) {
  if (!is_active("Fenix_get_number_of_ranks_with_role")) return FENIX_ERROR_UNINITIALIZED;
  if (role < FENIX_ROLE_INITIAL_RANK || role > FENIX_ROLE_MISSING_RANK) return FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
  const mend::Engine& engine = state().engine();
  *number_of_ranks = 0;
  if (role == FENIX_ROLE_SPARE_RANK) *number_of_ranks = Fenix_get_nspare();
  if (role == FENIX_ROLE_MISSING_RANK) *number_of_ranks = missing_ranks();
  for (int rank = 0; rank < engine.epoch_state().roster.size(); ++rank)
    *number_of_ranks += role_of(rank) == role ? 1 : 0;
  return FENIX_SUCCESS;
}

int Fenix_get_role(MPI_Comm comm, int rank, int* role) {
  if (!is_active("Fenix_get_role")) return FENIX_ERROR_UNINITIALIZED;
  const auto found = resilient_rank(comm, rank);
  if (!found) return FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
  *role = role_of(*found);
  return FENIX_SUCCESS;
}

int Fenix_get_rank_role(MPI_Comm comm, int rank, int* role) { return Fenix_get_role(comm, rank, role); }

Fenix_Rank_role mend_fenix_own_role() {
  if (!state().finalized && !is_active("Fenix_get_role")) return FENIX_ROLE_INITIAL_RANK;
  return role();
}

int Fenix_get_error() {
  if (!state().active) return FENIX_ERROR_UNINITIALIZED;
  return missing_ranks() > 0 ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS;
}

int Fenix_get_nspare() {
  return state().active ? static_cast<int>(state().engine().epoch_state().roster.spares.size()) : 0;
}

int Fenix_Process_fail_list(int** fail_list) {
  *fail_list = state().failed.data();
  return static_cast<int>(state().failed.size());
}

int Fenix_check_cancelled(MPI_Request* request, MPI_Status* status) {
  const mend::ErrorsReturned quiet;
  int completed = 0;
  const int code = MPI_Test(request, &completed, status);
  return code != MPI_SUCCESS || completed == 0 ? 1 : 0;
}

int Fenix_Finalize() {
  if (!is_active("Fenix_Finalize")) return FENIX_ERROR_UNINITIALIZED;
  do {
    if (finish()) return FENIX_SUCCESS;
  } while (message_logs().recovers_in_place() && go_on_in_place(true));
  resume();
  return FENIX_ERROR_CANCELLED;
}
