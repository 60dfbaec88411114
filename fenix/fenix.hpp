// Fenix for C++ as of 2026, implemented by mend. The names, arguments and defaults are Fenix's; docs/fenix.md describes
// each function here.
//
//     MPI_Comm comm;
//     fenix::init({.in_comm = MPI_COMM_WORLD, .out_comm = &comm, .spares = 2});
//     while (true) {
//       try {
//         work(comm);               // plain MPI, fenix::data::member_store, fenix::data::commit
//         Fenix_Finalize();
//         break;
//       } catch (const fenix::CommException&) {}   // a failure was recovered from, and comm has been repaired
//     }
//
// A function that fails, for example because of an invalid argument, throws RuntimeException with the code that the
// function for C returns. Warnings, and FENIX_ERROR_CANCELLED with FENIX_RESUME_RETURN, are returned. A collective
// function that meets a failure recovers from it, and then throws CommException, unless FENIX_RESUME_MODE says
// otherwise. "The ranks" are those of the resilient communicator. fenix.h describes the functions for C, which have the
// same names.

#pragma once

#include "fenix/data/serialize_function.hpp"
#include "fenix/data/subset.hpp"
#include "fenix/fenix.h"
#include "fenix/fenix_opt.hpp"

#include <mpi.h>

#include <functional>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

namespace fenix {

// --- names of Fenix's settings and roles ---------------------------------------------------------------------------

using Role = Fenix_Rank_role;
constexpr Role INITIAL_RANK = FENIX_ROLE_INITIAL_RANK;
constexpr Role RECOVERED_RANK = FENIX_ROLE_RECOVERED_RANK;
constexpr Role SURVIVOR_RANK = FENIX_ROLE_SURVIVOR_RANK;
constexpr Role SPARE_RANK = FENIX_ROLE_SPARE_RANK;
constexpr Role MISSING_RANK = FENIX_ROLE_MISSING_RANK;

using SettingName = Fenix_Setting_name;
constexpr SettingName RECOVERY_MODE = FENIX_RECOVERY_MODE;
constexpr SettingName RESUME_MODE = FENIX_RESUME_MODE;
constexpr SettingName UNHANDLED_MODE = FENIX_UNHANDLED_MODE;
constexpr SettingName CALLBACK_EXCEPTION_MODE = FENIX_CALLBACK_EXCEPTION_MODE;
constexpr SettingName MLOG_RECOVERY_MODE = FENIX_MLOG_RECOVERY_MODE;
constexpr SettingName SPARE_WAIT_MODE = FENIX_SPARE_WAIT_MODE;
constexpr SettingName SPARE_FINALIZE_MODE = FENIX_SPARE_FINALIZE_MODE;

using RecoveryMode = Fenix_Recovery_mode;
constexpr RecoveryMode IGNORE = FENIX_RECOVERY_IGNORE;
constexpr RecoveryMode NOOP = FENIX_RECOVERY_NOOP;
constexpr RecoveryMode REPAIR = FENIX_RECOVERY_REPAIR;
constexpr RecoveryMode SPAWN = FENIX_RECOVERY_SPAWN;

using ResumeMode = Fenix_Resume_mode;
constexpr ResumeMode JUMP = FENIX_RESUME_JUMP;
constexpr ResumeMode RETURN = FENIX_RESUME_RETURN;
constexpr ResumeMode THROW = FENIX_RESUME_THROW;

using UnhandledMode = Fenix_Unhandled_mode;
constexpr UnhandledMode SILENT = FENIX_UNHANDLED_SILENT;
constexpr UnhandledMode PRINT = FENIX_UNHANDLED_PRINT;
constexpr UnhandledMode ABORT = FENIX_UNHANDLED_ABORT;

using CallbackExceptionMode = Fenix_Callback_exception_mode;
constexpr CallbackExceptionMode RETHROW = FENIX_CALLBACK_EXCEPTION_RETHROW;
constexpr CallbackExceptionMode SQUASH = FENIX_CALLBACK_EXCEPTION_SQUASH;

using MlogRecoveryMode = Fenix_Mlog_recovery_mode;
constexpr MlogRecoveryMode MANUAL = FENIX_MLOG_RECOVERY_MANUAL;
constexpr MlogRecoveryMode INLINE = FENIX_MLOG_RECOVERY_INLINE;
constexpr MlogRecoveryMode INLINE_AUTOSYNC = FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC;

using SpareWaitMode = Fenix_Spare_wait_mode;
constexpr SpareWaitMode BUSY = FENIX_SPARE_WAIT_BUSY;
constexpr SpareWaitMode YIELD = FENIX_SPARE_WAIT_YIELD;
constexpr SpareWaitMode SLEEP = FENIX_SPARE_WAIT_SLEEP;

using SpareFinalizeMode = Fenix_Spare_finalize_mode;
constexpr SpareFinalizeMode RELEASE = FENIX_SPARE_FINALIZE_RELEASE;
constexpr SpareFinalizeMode EXIT = FENIX_SPARE_FINALIZE_EXIT;

constexpr int STOREV_ALL = FENIX_STOREV_ALL;

// --- processes -----------------------------------------------------------------------------------------------------

/// The time at which a callback is called: before the recovery, or after it.
enum CallbackLocation { PRE_RECOVERY, POST_RECOVERY };

namespace args {
/// The arguments of init(). The variables that the pointers point to must exist until Fenix_Finalize.
struct FenixInitArgs {
  int* role = nullptr;                ///< becomes the role of this rank
  MPI_Comm in_comm = MPI_COMM_WORLD;  ///< all launched processes
  MPI_Comm* out_comm = nullptr;       ///< becomes the resilient communicator
  int* argc = nullptr;                ///< of main; mend's flags are removed
  char*** argv = nullptr;
  int spares = 0;  ///< the number of processes, the last of in_comm, that become spares
  // Fenix had these in 2025.
  int spawn = 0;                                                   ///< as the argument of Fenix_Init
  std::optional<ResumeMode> resume_mode{};                         ///< sets RESUME_MODE
  std::optional<CallbackExceptionMode> callback_exception_mode{};  ///< sets CALLBACK_EXCEPTION_MODE
  std::optional<UnhandledMode> unhandled_mode{};                   ///< sets UNHANDLED_MODE
  int* err = nullptr;  ///< becomes FENIX_SUCCESS or FENIX_WARNING_SPARE_RANKS_DEPLETED
};
}  // namespace args

/// Fenix_Init with FENIX_RESUME_THROW in the place of FENIX_RESUME_JUMP. The function that calls it may return.
/// Collective over all launched processes.
void init_with(const args::FenixInitArgs& args, bool accumulate_snapshots);
/// init_with() for programs that may define FENIX_SNAPSHOTS_ACCUMULATE. A template, so that a call of init() after
/// `using namespace Fenix` means Fenix::init(). Collective over all launched processes.
template <class... None>
inline void init(const args::FenixInitArgs args) {
  init_with(args, MEND_FENIX_ACCUMULATES != 0);
}

/// Fenix_set_option. Also before init(). Local.
void set_option(SettingName setting, unsigned option);
/// Returns the value of a setting. Also before init(). Local.
unsigned get_option(SettingName setting);

/// Throws CommException for the most recent failure. It is meant for newcomers, which did not meet that failure. Local.
[[noreturn]] void throw_exception();
/// Returns the role of this rank. Local.
Fenix_Rank_role role();
/// Returns FENIX_SUCCESS or FENIX_WARNING_SPARE_RANKS_DEPLETED. Local.
int error();
/// Returns the number of waiting spares. Local.
int nspare();
/// Returns the slot of this rank, as Fenix_get_slot. Local.
int slot();
/// Returns how many processes have `role`. Local.
int n_ranks_with_role(Role role);
/// Returns the role of `rank` of `comm`. Local.
Role rank_role(MPI_Comm comm, int rank);
/// Returns the slot of `rank` of `comm`, or MPI_UNDEFINED. Local.
int rank_to_slot(MPI_Comm comm, int rank);
/// Returns the rank in `comm` that has `slot`, or MPI_UNDEFINED. Local.
int slot_to_rank(MPI_Comm comm, int slot);
/// Returns the group of the processes that now have the slots of `old_group`, as Fenix_repair_group. The caller frees
/// it. Local.
MPI_Group repair_group(MPI_Group old_group);

/// Gets the resilient communicator and MPI's error code.
using FenixCallbackFunc = std::function<void(MPI_Comm, int)>;
/// Registers a function that is called in each failure: before the recovery, with the old communicator, or after it,
/// with the repaired one. MPI calls that a callback makes before the recovery return their errors. A failure that comes
/// when all ranks are in Fenix_Finalize is repaired in it: then only callbacks after the recovery are called. Local.
int callback_register(FenixCallbackFunc callback, CallbackLocation location = POST_RECOVERY);
/// Removes the callback that was registered last for that place. Local.
int callback_pop(CallbackLocation location = POST_RECOVERY);
/// Calls all callbacks of that place with the arguments of the most recent recovery. Local.
int callback_invoke_all(CallbackLocation location = POST_RECOVERY);

/// Returns the ranks whose processes died in the most recent failure, numbered as before it. Local.
std::vector<int> fail_list();
/// Fenix_Process_detect_failures. Local if there is no failure.
int detect_failures(bool recover = true);
/// Returns true between init() and the return of Fenix_Finalize. At any time. Local.
bool initialized();
/// Returns true after Fenix_Finalize. At any time. Local.
bool finalized();
/// Revokes `comm`: calls on it return with an error, on all its processes. Called by any one process of `comm`.
int comm_revoke(MPI_Comm comm);

}  // namespace fenix

// --- data ----------------------------------------------------------------------------------------------------------

namespace fenix::data {

extern const DataSubset& SUBSET_FULL;       ///< all elements
extern const DataSubset& SUBSET_EMPTY;      ///< no element
extern const DataSubset& SUBSET_PRESTAGED;  ///< the elements that were staged
extern DataSubset SUBSET_IGNORE;            ///< as `data_found`: the caller does not ask which elements were found

/// Fenix_Data_group_create. Collective over the ranks.
int group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name, void* policy_value,
                 int* flag);
/// The arguments of group_create() by name, with Fenix's defaults.
struct GroupCreateArgs {
  MPI_Comm comm = MPI_COMM_NULL;  ///< default: the resilient communicator
  int start_time_stamp = 0;
  int depth = 1;  ///< snapshots that are kept beside the newest
  int policy_name = FENIX_DATA_POLICY_IMR;
  void* policy_value = nullptr;
  int* flag = nullptr;
};
/// The same. Collective over the ranks.
int group_create(int group_id, GroupCreateArgs args = {});
/// Returns true if this process has created the group. Local.
bool group_created(int group_id);
/// Returns the ids of the members in the order of their creation; nothing if there is no such group. Local.
std::optional<std::vector<int>> group_members(int group_id);
/// Returns the time stamps of the snapshots, the newest first; nothing if there is no such group. Local.
std::optional<std::vector<int>> group_snapshots(int group_id);
/// Returns the group of ranks that Fenix_Data_group_get_cohort stores. The caller frees it. Local.
MPI_Group group_cohort(int group_id);
/// Deletes a group with its members and snapshots. Local.
int group_delete(int group_id);
/// Deletes a snapshot, or all (FENIX_DATA_SNAPSHOT_ALL). Local.
int snapshot_delete(int group_id, int time_stamp);

/// Fenix_Data_member_create. Local.
int member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);
/// The same, with a function that writes and reads the elements. Local.
int member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                  SerializeFunc serializer);
/// Fenix_Data_member_define. Local.
int member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);
/// The same, with a function that writes and reads the elements. Local.
int member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                  SerializeFunc serializer);
/// Returns true if the member exists here. Local.
bool member_created(int group_id, int member_id);
/// Fenix_Data_member_attr_set. Local.
int member_attr_set(int group_id, int member_id, int attribute, void* value, int* flag);
/// Fenix_Data_member_attr_get with five arguments. Local.
int member_attr_get(int group_id, int member_id, int attribute, void* value, int* flag);
/// Deletes a member. Local.
int member_delete(int group_id, int member_id);

/// Copies these elements now; a store of SUBSET_PRESTAGED adds them to the next commit. Local.
int member_stage(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);
/// Stages elements from `buffer`, which must come from malloc and is freed here. Local.
int member_stage_inplace(int group_id, int member_id, void* buffer, const DataSubset& subset = SUBSET_FULL);
/// Opens a file in memory for writing; member_stage_end() stages its content. Local.
int member_stage_begin(int group_id, int member_id, FILE** file);
/// The same, as a stream. Local.
int member_stage_begin(int group_id, int member_id, std::iostream** stream);
/// Closes the file or the stream. Local.
int member_stage_end(int group_id, int member_id);

/// Copies these elements for the next commit. Collective over the ranks.
int member_store(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);
/// The same for all members. Collective over the ranks.
inline int member_store(int group_id, const DataSubset& subset = SUBSET_FULL) {
  return member_store(group_id, FENIX_DATA_MEMBER_ALL, subset);
}
/// member_store() with a subset that may differ between ranks. Collective over the ranks.
int member_storev(int group_id, int member_id, const DataSubset& subset);
/// The same for all members. Collective over the ranks.
inline int member_storev(int group_id, const DataSubset& subset) {
  return member_storev(group_id, FENIX_DATA_MEMBER_ALL, subset);
}
/// member_store() that is completed by Fenix_Data_wait or Fenix_Data_test. Collective over the ranks.
int member_istore(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);
/// The arguments of member_istore() by name.
struct MemberIstoreArgs {
  int member_id = FENIX_DATA_MEMBER_ALL;
  const DataSubset& subset = SUBSET_FULL;
};
/// The same. Collective over the ranks.
inline int member_istore(int group_id, Fenix_Request* request, MemberIstoreArgs args = {}) {
  return member_istore(group_id, args.member_id, args.subset, request);
}
/// member_storev() that is completed by Fenix_Data_wait or Fenix_Data_test. Collective over the ranks.
int member_istorev(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);
/// The same for all members. Collective over the ranks.
inline int member_istorev(int group_id, const DataSubset& subset, Fenix_Request* request) {
  return member_istorev(group_id, FENIX_DATA_MEMBER_ALL, subset, request);
}

/// Makes a snapshot of everything that was stored; `*time_stamp` becomes its time stamp. Collective over the ranks.
int commit(int group_id, int* time_stamp = nullptr);
/// The same. Collective over the ranks.
int commit_barrier(int group_id, int* time_stamp = nullptr);
/// Stores all members, those in `storev_ids` as by member_storev(), and commits. Collective over the ranks.
int checkpoint(int group_id, const DataSubset& subset, const std::vector<int>& storev_ids = {},
               int* time_stamp = nullptr);
/// Stores all members as by member_storev(), and commits. Collective over the ranks.
int checkpointv(int group_id, const DataSubset& subset, int* time_stamp = nullptr);

/// Restores the committed snapshots of the member on ranks that have taken over. Collective over the ranks.
int member_repair(int group_id, int member_id);
/// Copies the member from the snapshots that this process holds into its own buffer. Local.
int member_load(int group_id, int member_id, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                DataSubset& data_found = SUBSET_IGNORE);
/// The same, into `target`. Local.
int member_load(int group_id, int member_id, void* target, int target_count = FENIX_DATA_RESTORE_FULL,
                int time_stamp = FENIX_DATA_SNAPSHOT_ALL, DataSubset& data_found = SUBSET_IGNORE);
/// Opens a file in memory for reading, with the bytes of the member in that snapshot. Local.
int member_load_begin(int group_id, int member_id, FILE** file, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);
/// The same, as a stream. Local.
int member_load_begin(int group_id, int member_id, std::iostream** stream, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);
/// Closes the file or the stream. Local.
int member_load_end(int group_id, int member_id);
/// Fenix_Data_member_restore: member_repair() and then member_load(). Collective over the ranks.
int member_restore(int group_id, int member_id, void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                   int max_length = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                   DataSubset& data_found = SUBSET_IGNORE);
/// member_restore() from the snapshots that this process holds. Local.
int member_lrestore(int group_id, int member_id, void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                    int max_length = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                    DataSubset& data_found = SUBSET_IGNORE);

}  // namespace fenix::data

// --- message logs -----------------------------------------------------------------------------------------------

namespace fenix::mlog {

/// Fenix_Mlog_create. `comm` must exist until the log is deleted. Local.
int create(int mlog_id, MPI_Comm& comm, int depth);
/// Makes this log the active one, or none (FENIX_MLOG_NONE). Local.
int activate(int mlog_id);
/// Returns the number of the active log, or FENIX_MLOG_NONE. Local.
int active();
/// Begins a region, as Fenix_Mlog_begin_region. Local.
int begin_region(int mlog_id, int region_id);
/// Activates the log and begins the region. Local.
int activate(int mlog_id, int region_id);
/// Fenix_Mlog_sync: to be called after each failure. Collective over the ranks.
int sync(int mlog_id, int region_id = FENIX_MLOG_CONTINUE);
/// Adds the log to a data group, as a member. Local.
int create_data_member(int mlog_id, int group_id, int member_id);
/// Defines the member of a log again, in a process that has taken over a rank. Local.
int define_data_member(int mlog_id, int group_id, int member_id);
/// Deletes a message log. Local.
int mlog_delete(int mlog_id);

}  // namespace fenix::mlog

// --- spellings of 2025 ---------------------------------------------------------------------------------------------

/// fenix::callback_register. Local.
inline int Fenix_Callback_register(std::function<void(MPI_Comm, int)> callback) {
  return fenix::callback_register(std::move(callback));
}

namespace Fenix {
using namespace ::fenix;
/// init_with() with snapshots that have all elements that were ever stored, as those of Fenix had in 2025. Collective
/// over all launched processes.
inline void init(const args::FenixInitArgs args) { init_with(args, true); }
namespace Args {
using ::fenix::args::FenixInitArgs;
}
namespace Data {
using namespace ::fenix::data;
}
}  // namespace Fenix
