// Fenix's functions on processes, in C++.

#include "fenix/cpp/code.hpp"
#include "fenix/fenix.hpp"
#include "fenix/process/job.hpp"
#include "fenix/process/settings.hpp"

using mend::fenix::require;
using mend::fenix::state;

namespace fenix {
namespace {

mend::fenix::Callbacks::List& callbacks_at(CallbackLocation location) {
  auto& callbacks = state().callbacks;
  return location == PRE_RECOVERY ? callbacks.before_recovery : callbacks.after_recovery;
}

void require_active(const char* function) {
  if (!mend::fenix::is_active(function)) require(FENIX_ERROR_UNINITIALIZED, function);
}

}  // namespace

void init_with(const args::FenixInitArgs& args, bool accumulate_snapshots) {
  auto& settings = mend::fenix::settings();
  if (args.resume_mode) settings.resume = *args.resume_mode;
  if (settings.resume == JUMP) settings.resume = THROW;
  if (args.callback_exception_mode) settings.callback_exception = *args.callback_exception_mode;
  if (args.unhandled_mode) settings.unhandled = *args.unhandled_mode;
  settings.accumulates_snapshots = accumulate_snapshots;
  mend::fenix::start({args.in_comm, args.argc, args.argv, args.spares, args.spawn, MPI_INFO_NULL},
                     {args.role, args.out_comm, args.err, nullptr});
  mend::fenix::report();
}

void set_option(SettingName setting, unsigned option) { require(Fenix_set_option(setting, option), "set_option"); }

unsigned get_option(SettingName setting) {
  unsigned option = 0;
  require(Fenix_get_option(setting, &option), "get_option");
  return option;
}

void throw_exception() {
  require_active("throw_exception");
  mend::fenix::throw_failure();
}

Fenix_Rank_role role() { return Fenix_get_role(); }
int error() { return require(Fenix_get_error(), "error"); }
int nspare() { return Fenix_get_nspare(); }
int slot() { return require(Fenix_get_slot(), "slot"); }

int n_ranks_with_role(Role role) {
  int number = 0;
  require(Fenix_get_number_of_ranks_with_role(role, &number), "n_ranks_with_role");
  return number;
}

Role rank_role(MPI_Comm comm, int rank) {
  int role = 0;
  require(Fenix_get_rank_role(comm, rank, &role), "rank_role");
  return static_cast<Role>(role);
}

int rank_to_slot(MPI_Comm comm, int rank) {
  int slot = MPI_UNDEFINED;
  require(Fenix_rank_to_slot(comm, rank, &slot), "rank_to_slot");
  return slot;
}

int slot_to_rank(MPI_Comm comm, int slot) {
  int rank = MPI_UNDEFINED;
  require(Fenix_slot_to_rank(comm, slot, &rank), "slot_to_rank");
  return rank;
}

MPI_Group repair_group(MPI_Group old_group) {
  MPI_Group repaired = MPI_GROUP_NULL;
  require(Fenix_repair_group(old_group, &repaired), "repair_group");
  return repaired;
}

int callback_register(FenixCallbackFunc callback, CallbackLocation location) {
  require_active("callback_register");
  if (!callback) return require(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback_register");
  mend::fenix::add_callback(callbacks_at(location), std::move(callback));
  return FENIX_SUCCESS;
}

int callback_pop(CallbackLocation location) {
  require_active("callback_pop");
  if (callbacks_at(location).empty()) return require(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback_pop");
  mend::fenix::take_back_callback(callbacks_at(location));
  return FENIX_SUCCESS;
}

int callback_invoke_all(CallbackLocation location) {
  require_active("callback_invoke_all");
  if (location == PRE_RECOVERY) {
    mend::fenix::call_all_back_before();
    mend::fenix::throw_what_was_kept();
  } else {
    mend::fenix::call_all_back();
  }
  return FENIX_SUCCESS;
}

std::vector<int> fail_list() { return state().failed; }
int detect_failures(bool recover) { return Fenix_Process_detect_failures(recover ? 1 : 0); }
bool initialized() { return state().active; }
bool finalized() { return state().finalized; }
int comm_revoke(MPI_Comm comm) { return Fenix_comm_revoke(comm); }

}  // namespace fenix
