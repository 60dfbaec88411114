// Fenix for C++ as of 2026, carried out by mend. The names, arguments and defaults are Fenix's; docs/fenix.md says what
// each function does here.
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
// A function that cannot do what it was asked for throws RuntimeException with the code that the function for C
// returns. Warnings, and FENIX_ERROR_CANCELLED with FENIX_RESUME_RETURN, are returned.

#pragma once

#include "fenix/data/serialize_function.hpp"
#include "fenix/data/subset.hpp"
#include "fenix/fenix.h"

#include <mpi.h>

#include <functional>
#include <iostream>
#include <optional>
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

enum CallbackLocation { PRE_RECOVERY, POST_RECOVERY };

namespace args {
struct FenixInitArgs {
  int* role = nullptr;
  MPI_Comm in_comm = MPI_COMM_WORLD;
  MPI_Comm* out_comm = nullptr;
  int* argc = nullptr;
  char*** argv = nullptr;
  int spares = 0;
  int* err = nullptr;
};
}  // namespace args

/// As Fenix_Init, for programs that do not jump: FENIX_RESUME_JUMP becomes FENIX_RESUME_THROW. The function that calls
/// it may return. Collective over all processes launched.
void init_with(const args::FenixInitArgs& args, bool accumulate_snapshots);
inline void init(const args::FenixInitArgs args) { init_with(args, MEND_FENIX_ACCUMULATES != 0); }

void set_option(SettingName setting, unsigned option);
unsigned get_option(SettingName setting);

/// Throws CommException for the most recent failure: for ranks that have taken over, which met none. Local.
[[noreturn]] void throw_exception();
Fenix_Rank_role role();
int error();
int nspare();
int slot();
int n_ranks_with_role(Role role);
Role rank_role(MPI_Comm comm, int rank);
int rank_to_slot(MPI_Comm comm, int rank);
int slot_to_rank(MPI_Comm comm, int slot);
MPI_Group repair_group(MPI_Group old_group);

using FenixCallbackFunc = std::function<void(MPI_Comm, int)>;
/// Has `callback` called when a failure is met: before the recovery, with the communicator as it was, or after it. MPI
/// calls that a callback makes before the recovery return their errors. Local.
int callback_register(FenixCallbackFunc callback, CallbackLocation location = POST_RECOVERY);
int callback_pop(CallbackLocation location = POST_RECOVERY);
int callback_invoke_all(CallbackLocation location = POST_RECOVERY);

/// The ranks whose processes died in the most recent failure, as they were numbered before it. Local.
std::vector<int> fail_list();
int detect_failures(bool recover = true);
bool initialized();
bool finalized();
int comm_revoke(MPI_Comm comm);

}  // namespace fenix

// --- data ----------------------------------------------------------------------------------------------------------

namespace fenix::data {

extern const DataSubset& SUBSET_FULL;
extern const DataSubset& SUBSET_EMPTY;
extern const DataSubset& SUBSET_PRESTAGED;
extern DataSubset SUBSET_IGNORE;

int group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name, void* policy_value,
                 int* flag);
struct GroupCreateArgs {
  MPI_Comm comm = MPI_COMM_NULL;  ///< the resilient communicator
  int start_time_stamp = 0;
  int depth = 1;
  int policy_name = FENIX_DATA_POLICY_IMR;
  void* policy_value = nullptr;
  int* flag = nullptr;
};
int group_create(int group_id, GroupCreateArgs args = {});
bool group_created(int group_id);
std::optional<std::vector<int>> group_members(int group_id);
std::optional<std::vector<int>> group_snapshots(int group_id);
MPI_Group group_cohort(int group_id);
int group_delete(int group_id);
int snapshot_delete(int group_id, int time_stamp);

int member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);
int member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                  SerializeFunc serializer);
int member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);
int member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                  SerializeFunc serializer);
bool member_created(int group_id, int member_id);
int member_attr_set(int group_id, int member_id, int attribute, void* value, int* flag);
int member_attr_get(int group_id, int member_id, int attribute, void* value, int* flag);
int member_delete(int group_id, int member_id);

int member_stage(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);
int member_stage_inplace(int group_id, int member_id, void* buffer, const DataSubset& subset = SUBSET_FULL);
int member_stage_begin(int group_id, int member_id, FILE** file);
int member_stage_begin(int group_id, int member_id, std::iostream** stream);
int member_stage_end(int group_id, int member_id);

int member_store(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);
inline int member_store(int group_id, const DataSubset& subset = SUBSET_FULL) {
  return member_store(group_id, FENIX_DATA_MEMBER_ALL, subset);
}
int member_storev(int group_id, int member_id, const DataSubset& subset);
inline int member_storev(int group_id, const DataSubset& subset) {
  return member_storev(group_id, FENIX_DATA_MEMBER_ALL, subset);
}
int member_istore(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);
struct MemberIstoreArgs {
  int member_id = FENIX_DATA_MEMBER_ALL;
  const DataSubset& subset = SUBSET_FULL;
};
inline int member_istore(int group_id, Fenix_Request* request, MemberIstoreArgs args = {}) {
  return member_istore(group_id, args.member_id, args.subset, request);
}
int member_istorev(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);
inline int member_istorev(int group_id, const DataSubset& subset, Fenix_Request* request) {
  return member_istorev(group_id, FENIX_DATA_MEMBER_ALL, subset, request);
}

int commit(int group_id, int* time_stamp = nullptr);
int commit_barrier(int group_id, int* time_stamp = nullptr);
int checkpoint(int group_id, const DataSubset& subset, const std::vector<int>& storev_ids = {},
               int* time_stamp = nullptr);
int checkpointv(int group_id, const DataSubset& subset, int* time_stamp = nullptr);

int member_repair(int group_id, int member_id);
int member_load(int group_id, int member_id, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                DataSubset& data_found = SUBSET_IGNORE);
int member_load(int group_id, int member_id, void* target, int target_count = FENIX_DATA_RESTORE_FULL,
                int time_stamp = FENIX_DATA_SNAPSHOT_ALL, DataSubset& data_found = SUBSET_IGNORE);
int member_load_begin(int group_id, int member_id, FILE** file, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);
int member_load_begin(int group_id, int member_id, std::iostream** stream, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);
int member_load_end(int group_id, int member_id);
int member_restore(int group_id, int member_id, void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                   int max_length = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                   DataSubset& data_found = SUBSET_IGNORE);
int member_lrestore(int group_id, int member_id, void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                    int max_length = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                    DataSubset& data_found = SUBSET_IGNORE);

}  // namespace fenix::data

// --- message logs -----------------------------------------------------------------------------------------------

namespace fenix::mlog {

int create(int mlog_id, MPI_Comm& comm, int depth);
int activate(int mlog_id);
/// FENIX_MLOG_NONE if none is active.
int active();
int begin_region(int mlog_id, int region_id);
int activate(int mlog_id, int region_id);
int sync(int mlog_id, int region_id = FENIX_MLOG_CONTINUE);
int create_data_member(int mlog_id, int group_id, int member_id);
int define_data_member(int mlog_id, int group_id, int member_id);
int mlog_delete(int mlog_id);

}  // namespace fenix::mlog

// --- as it was spelt in 2025 ---------------------------------------------------------------------------------------

namespace Fenix {
using namespace ::fenix;
namespace Args {
using ::fenix::args::FenixInitArgs;
}
namespace Data {
using namespace ::fenix::data;
}
}  // namespace Fenix
