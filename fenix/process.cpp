// Fenix's functions on processes. Those that may recover from a failure hold nothing that needs a destructor: they may
// be left by longjmp.

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "fenix/fenix.h"
#include "fenix/group.hpp"
#include "fenix/job.hpp"

#include <algorithm>

namespace {

using namespace mend::fenix;

/// The number of `rank` of `comm` in the resilient communicator; nothing if it is not in it.
std::optional<int> resilient_rank(MPI_Comm comm, int rank) {
  const mend::ErrorsReturned quiet;
  MPI_Group part = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  int found = MPI_UNDEFINED;
  if (comm == MPI_COMM_NULL || MPI_Comm_group(comm, &part) != MPI_SUCCESS) return std::nullopt;
  MPI_Comm_group(state().engine().world().application.get(), &all);
  int size = 0;
  MPI_Group_size(part, &size);
  if (rank >= 0 && rank < size) MPI_Group_translate_ranks(part, 1, &rank, all, &found);
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  return found == MPI_UNDEFINED ? std::nullopt : std::optional(found);
}

int role_of(int rank) {
  State& now = state();
  if (now.engine().world().epoch == mend::Epoch{0}) return FENIX_ROLE_INITIAL_RANK;
  const bool replaced = std::find(now.recovered.begin(), now.recovered.end(), rank) != now.recovered.end();
  return replaced ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK;
}

bool failure_is_known() {
  const mend::ErrorsReturned quiet;
  const MPI_Comm comm = state().engine().world().application.get();
  int waiting = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &waiting,
             MPI_STATUS_IGNORE);  // news comes while the library is at work
  return state().engine().knows_of_failure() || mend::is_revoked(comm);
}

bool set(Fenix_Setting_name name, unsigned option) {
  switch (name) {
    case FENIX_RECOVERY_MODE:
      if (option >= FENIX_RECOVERY_MODE_MAXCODE || option == FENIX_RECOVERY_NOOP) return false;
      settings().recovery = static_cast<Fenix_Recovery_mode>(option);
      return true;
    case FENIX_RESUME_MODE:
      if (option >= FENIX_RESUME_MODE_MAXCODE) return false;
      settings().resume = static_cast<Fenix_Resume_mode>(option);
      return true;
    case FENIX_UNHANDLED_MODE:
      if (option >= FENIX_UNHANDLED_MODE_MAXCODE) return false;
      settings().unhandled = static_cast<Fenix_Unhandled_mode>(option);
      return true;
    default:
      if (option >= FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE) return false;
      settings().callback_exception = static_cast<Fenix_Callback_exception_mode>(option);
      return true;
  }
}

}  // namespace

void mend_fenix_start(int* role, MPI_Comm comm, MPI_Comm* new_comm, int* argc, char*** argv, int spares, int spawn,
                      MPI_Info info, int* error, jmp_buf* resume_point) {
  start({comm, argc, argv, spares, spawn, info}, {role, new_comm, error, resume_point});
}

void mend_fenix_report() { report(); }

int Fenix_Initialized(int* flag) {
  *flag = state().active || state().finalized ? 1 : 0;
  return FENIX_SUCCESS;
}

int Fenix_Finalized(int* flag) {
  *flag = state().finalized ? 1 : 0;
  return FENIX_SUCCESS;
}

int Fenix_set_option(Fenix_Setting_name setting, unsigned option) {
  if (setting >= FENIX_SETTING_NAME_MAXCODE) return FENIX_ERROR_INVALID_SETTING_NAME;
  return set(setting, option) ? FENIX_SUCCESS : FENIX_ERROR_INVALID_SETTING_OPTION;
}

int Fenix_get_option(Fenix_Setting_name setting, unsigned* option) {
  switch (setting) {
    case FENIX_RECOVERY_MODE: *option = settings().recovery; return FENIX_SUCCESS;
    case FENIX_RESUME_MODE: *option = settings().resume; return FENIX_SUCCESS;
    case FENIX_UNHANDLED_MODE: *option = settings().unhandled; return FENIX_SUCCESS;
    case FENIX_CALLBACK_EXCEPTION_MODE: *option = settings().callback_exception; return FENIX_SUCCESS;
    default: return FENIX_ERROR_INVALID_SETTING_NAME;
  }
}

int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data) {
  if (!is_active("Fenix_Callback_register")) return FENIX_ERROR_UNINITIALIZED;
  if (recover == nullptr) return FENIX_ERROR_CALLBACK_NOT_REGISTERED;
  state().callbacks.push_back({recover, callback_data});
  return FENIX_SUCCESS;
}

int Fenix_Callback_pop() {
  if (!is_active("Fenix_Callback_pop")) return FENIX_ERROR_UNINITIALIZED;
  if (state().callbacks.empty()) return FENIX_ERROR_CALLBACK_NOT_REGISTERED;
  state().callbacks.pop_back();
  return FENIX_SUCCESS;
}

int Fenix_Callback_invoke_all() {
  if (!is_active("Fenix_Callback_invoke_all")) return FENIX_ERROR_UNINITIALIZED;
  call_all_back();
  return FENIX_SUCCESS;
}

int Fenix_Process_detect_failures(int do_recovery) {
  if (!is_active("Fenix_Process_detect_failures")) return FENIX_ERROR_UNINITIALIZED;
  if (!failure_is_known()) return MPI_SUCCESS;
  if (do_recovery != 0 && settings().recovery != FENIX_RECOVERY_IGNORE) {
    recover(MPIX_ERR_PROC_FAILED);
    resume();
  }
  return MPIX_ERR_PROC_FAILED;
}

int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks) {
  if (!is_active("Fenix_get_number_of_ranks_with_role")) return FENIX_ERROR_UNINITIALIZED;
  if (role < FENIX_ROLE_INITIAL_RANK || role > FENIX_ROLE_SURVIVOR_RANK) return FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
  *number_of_ranks = 0;
  for (int rank = 0; rank < state().engine().world().roster.size(); ++rank)
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

Fenix_Rank_role Fenix_get_role() {
  if (!is_active("Fenix_get_role")) return FENIX_ROLE_INITIAL_RANK;
  return static_cast<Fenix_Rank_role>(role_of(state().engine().rank().value));
}

int Fenix_get_error() {
  if (!state().active) return FENIX_ERROR_UNINITIALIZED;
  const mend::Engine& engine = state().engine();
  return engine.world().roster.size() < engine.first_size() ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS;
}

int Fenix_get_nspare() { return state().active ? static_cast<int>(state().engine().world().roster.spares.size()) : 0; }

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
  if (finish()) return FENIX_SUCCESS;
  resume();
  return FENIX_ERROR_CANCELLED;
}
