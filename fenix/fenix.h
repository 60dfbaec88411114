/* The interface of Fenix for C as of 2026, carried out by mend. Programs written for Fenix compile against this header
 * unchanged and link `fenix` (find_package(fenix)) or mend::fenix (find_package(mend)). docs/fenix.md says of every
 * function what it does here, and where that differs from Fenix. From C++17 on, namespace fenix (fenix.hpp) comes with it.
 *
 *     MPI_Init(&argc, &argv);
 *     Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &error);
 *     if (role == FENIX_ROLE_INITIAL_RANK) { create and fill the data }           // first time
 *     else                                 { Fenix_Data_member_restore(...) }     // survivors and those who took over
 *     while (...) { plain MPI on comm; Fenix_Data_member_store(...); Fenix_Data_commit(...); }
 *     Fenix_Finalize();
 *     MPI_Finalize();
 *
 * When a process dies, a spare takes its rank and leaves Fenix_Init as FENIX_ROLE_RECOVERED_RANK; survivors leave their
 * MPI call and return from Fenix_Init once more, or stay where they are (FENIX_RESUME_MODE).
 *
 * Programs for Fenix 1.0 compile too: Fenix_Init may have nine arguments. One thing has another meaning then, and in
 * programs that define FENIX_SNAPSHOTS_ACCUMULATE before the include: FENIX_DATA_SNAPSHOT_LATEST, or any time stamp, gives
 * all elements that were ever stored, each at its value of then. Otherwise it gives those that were stored for that
 * snapshot, and FENIX_DATA_SNAPSHOT_ALL gives all.
 *
 * C99 and C++.
 */

#ifndef MEND_FENIX_H
#define MEND_FENIX_H

#include <mpi.h>
#include <mpi-ext.h>
#include <setjmp.h>
#include <stdio.h>

#include "fenix_codes.h"
#include "fenix_subset.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(MPIX_ERR_PROC_FAILED) && !defined(MPI_ERR_PROC_FAILED)
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#endif
#if defined(MPIX_ERR_PROC_FAILED_PENDING) && !defined(MPI_ERR_PROC_FAILED_PENDING)
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#endif
#if defined(MPIX_ERR_REVOKED) && !defined(MPI_ERR_REVOKED)
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED
#endif

/* --- processes ------------------------------------------------------------------------------------------------- */

/* Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int spawn, MPI_Info info,
 *            int *error)
 * Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int *error)
 *
 * Sets the last `spares` processes of `comm` aside, and makes of the others the resilient communicator `*new_comm`.
 * Collective over all processes launched, which must be those of `comm`, once, after MPI_Init; not within a function that
 * returns before Fenix_Finalize, because survivors return from it again. Spares come out of it when they have got a rank,
 * or not at all: they exit when the job is over. What `*role`, `*new_comm` and `*error` are is written at each recovery,
 * so they must live as long. Keys of `info`: FENIX_RESUME_MODE (Fenix_init or JUMP, NO_JUMP or RETURN, THROW) and
 * FENIX_UNHANDLED_MODE (SILENT, PRINT, ABORT). Takes mend's own flags (--mend-...) out of the command line. */
#define Fenix_Init(...) \
  MEND_FENIX_TENTH(__VA_ARGS__, MEND_FENIX_INIT_9, MEND_FENIX_INIT_8, MEND_FENIX_INIT_7, 0)(__VA_ARGS__)

#define MEND_FENIX_TENTH(a1, a2, a3, a4, a5, a6, a7, a8, a9, tenth, ...) tenth
#define MEND_FENIX_INIT_7(role, comm, new_comm, argc, argv, spares, error) \
  MEND_FENIX_INIT(role, comm, new_comm, argc, argv, spares, 0, MPI_INFO_NULL, error, MEND_FENIX_ACCUMULATES)
#define MEND_FENIX_INIT_9(role, comm, new_comm, argc, argv, spares, spawn, info, error) \
  MEND_FENIX_INIT(role, comm, new_comm, argc, argv, spares, spawn, info, error, 1)
#define MEND_FENIX_INIT(role, comm, new_comm, argc, argv, spares, spawn, info, error, accumulate)                     \
  {                                                                                                                   \
    static jmp_buf mend_fenix_resume_point;                                                                           \
    mend_fenix_accumulate_snapshots(accumulate);                                                                      \
    mend_fenix_start(role, comm, new_comm, argc, argv, spares, spawn, info, error, &mend_fenix_resume_point);         \
    (void)setjmp(mend_fenix_resume_point);                                                                            \
    mend_fenix_report();                                                                                              \
  }

#ifdef FENIX_SNAPSHOTS_ACCUMULATE
#define MEND_FENIX_ACCUMULATES 1
#else
#define MEND_FENIX_ACCUMULATES 0
#endif

/* Parts of Fenix_Init. */
void mend_fenix_accumulate_snapshots(int accumulate);
void mend_fenix_start(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int spawn,
                      MPI_Info info, int *error, jmp_buf *resume_point);
void mend_fenix_report(void);

/** Between Fenix_Init and the end of Fenix_Finalize, and after that. Local. */
int Fenix_Initialized(int *flag);
int Fenix_Finalized(int *flag);

/** Before Fenix_Init or after it; the same on all ranks. Local. */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);
int Fenix_get_option(Fenix_Setting_name setting, unsigned *option);

/** Has `recover` called on this rank when it has survived a failure, with the repaired communicator, MPI's error code and
 * `callback_data`; the one registered last is called first. Local. */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void *), void *callback_data);
/** Forgets the callback that was registered last. Local. */
int Fenix_Callback_pop(void);
/** Calls all, as after the most recent recovery. Local. */
int Fenix_Callback_invoke_all(void);

/** Revokes `comm`: every process of it leaves the calls on it in which it is blocked. Local call, effect everywhere. */
int Fenix_comm_revoke(MPI_Comm comm);

/** FENIX_SUCCESS, or FENIX_ERROR_PROCESS_FAILURE if a failure is known here; it is recovered from if `do_recovery`. For long
 * stretches without MPI. Local, unless there is a failure. */
int Fenix_Process_detect_failures(int do_recovery);
/** How many have `role`: ranks, spares that wait, or ranks of the start that are no more. Local. */
int Fenix_get_number_of_ranks_with_role(int role, int *number_of_ranks);
/** The role of `rank` of `comm`, which may be derived from the resilient communicator. Without arguments, as in Fenix as of
 * 2026, it returns the role of this rank. Local. */
int Fenix_get_role(MPI_Comm comm, int rank, int *role);
int Fenix_get_rank_role(MPI_Comm comm, int rank, int *role);
/** The slot of this rank: its number at the start of the job, which stays when ranks are given up and the others close
 * up. A process that takes over a rank has its slot. Local. */
int Fenix_get_slot(void);
/** The slot of `rank` of `comm`. MPI_UNDEFINED if that rank is not in the resilient communicator. Local. */
int Fenix_rank_to_slot(MPI_Comm comm, int rank, int *slot);
/** The rank in `comm` that has `slot`. MPI_UNDEFINED if there is none. Local. */
int Fenix_slot_to_rank(MPI_Comm comm, int slot, int *rank);
/** The group of those who have the slots of `old_group` now, in the same order. Members whose slot is no more are left
 * out. The program frees it. Local. */
int Fenix_repair_group(MPI_Group old_group, MPI_Group *new_group);
/** As `*error` of Fenix_Init. Local. */
int Fenix_get_error(void);
/** How many spares wait. Local. */
int Fenix_get_nspare(void);
/** The ranks whose processes died in the most recent failure, in `*fail_list` until the next; returns how many. Local. */
int Fenix_Process_fail_list(int **fail_list);
/** Whether a request from before a recovery was cancelled by that: 0 if it completed well. Local. */
int Fenix_check_cancelled(MPI_Request *request, MPI_Status *status);

/** Collective over the ranks: when all have come, the job is over and the spares exit. A failure before that is recovered
 * from; so even from here survivors may return to Fenix_Init. The resilient communicator is the program's from then on. */
int Fenix_Finalize(void);

/* --- data ------------------------------------------------------------------------------------------------------ */

#define FENIX_DATA_GROUP_WORLD_ID 10
#define FENIX_GROUP_ID_MAX 11
#define FENIX_TIME_STAMP_MAX 2147483647
#define FENIX_DATA_MEMBER_ALL -1
#define FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER 11
#define FENIX_DATA_MEMBER_ATTRIBUTE_COUNT 12
#define FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE 13
#define FENIX_DATA_MEMBER_ATTRIBUTE_SIZE 14
#define FENIX_DATA_SNAPSHOT_LATEST -1
#define FENIX_DATA_SNAPSHOT_ALL -2
#define FENIX_RESIZEABLE 0
#define FENIX_DATA_SUBSET_CREATED 2
#define FENIX_DATA_POLICY_IN_MEMORY_RAID 13
#define FENIX_DATA_POLICY_IMR FENIX_DATA_POLICY_IN_MEMORY_RAID
/** Nobody holds copies: what a process has stored dies with it. */
#define FENIX_DATA_POLICY_LOCAL 14
#define FENIX_TIME_STAMP_IGNORE NULL
/** For targets and counts: the member's own buffer, and all elements there are. */
#define FENIX_DATA_RESTORE_INPLACE NULL
#define FENIX_DATA_RESTORE_FULL 2147483647
/** As number of members to Fenix_Data_checkpoint: all are stored by storev. */
#define FENIX_STOREV_ALL -1
/** What a serializer is to do. */
#define FENIX_SERIALIZE 0
#define FENIX_DESERIALIZE 1

/** Writes elements `offset` to `offset + count - 1` of `buffer` to `file`, or reads them from it, according to
 * `direction`. `count` is FENIX_RESIZEABLE if all of a member without a count is to be written. Leaves the position of
 * the file to reads and writes. */
typedef void (*Fenix_Serialize_file_fn)(FILE *file, int direction, void *buffer, int offset, int count, void *context);

typedef struct {
  MPI_Request mpi_send_req;
  MPI_Request mpi_recv_req;
} Fenix_Request;

extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
extern const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
/** What Fenix_Data_member_stage has taken already. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
#define FENIX_DATA_SUBSET_IGNORE ((Fenix_Data_subset *)NULL)

/** The group's members are committed together. `comm` is the resilient communicator, or one made of it; then every rank
 * has one, and all commit together: the groups with one number on the parts of a split are one. The last depth+1
 * snapshots are kept; the first gets the time stamp `start_time_stamp`. `policy_value`: int[]{1, separation} or
 * int[]{5, separation, group size}, or NULL for the former. After a failure every rank creates its groups anew: survivors' are as they were at the last commit,
 * and so are those of the ranks that were taken over. Collective over the ranks. */
int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void *policy_value, int *flag);
/** Whether there is such a group here. Local. */
int Fenix_Data_group_created(int group_id);
/** `buffer` has `count` elements; FENIX_RESIZEABLE: as many as each store says. One that there is already takes these.
 * Local. */
int Fenix_Data_member_create(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype);
int Fenix_Data_member_created(int group_id, int member_id);
/** The same as Fenix_Data_member_create, which here may be called for a member that is there. One that has data keeps its
 * number of elements, and the size of one. Takes a serializer away. Local. */
int Fenix_Data_member_define(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype);
/** The same, with a function that writes and reads the elements; NULL takes it away. A process that takes over a rank sets
 * it anew, before it restores. Local. */
int Fenix_Data_member_fcreate(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void *context);
int Fenix_Data_member_fdefine(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void *context);
/** `*cohort` becomes the group of the ranks of the communicator that the data group was created with, or of this one
 * alone with FENIX_DATA_POLICY_LOCAL. The program frees it. Local. */
int Fenix_Data_group_get_cohort(int group_id, MPI_Group *cohort);
/** `*policy_value` becomes an array as Fenix_Data_group_create takes, `*flag` what is returned. Local. */
int Fenix_Data_group_get_redundancy_policy(int group_id, int *policy_name, void *policy_value, int *flag);

/** Takes a copy of these elements, for the next commit; the buffer may change then. Collective over the ranks. */
int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
/** The subset may be another on each rank. */
int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request *request);
int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request *request);
int Fenix_Data_wait(Fenix_Request request);
int Fenix_Data_test(Fenix_Request request, int *flag);
/** The same as a store that is to be followed by one of FENIX_DATA_SUBSET_PRESTAGED. Local. */
int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
/** The same from `buffer`, which was made by malloc and is freed here. What was staged before is dropped. Local. */
int Fenix_Data_member_stage_inplace(int group_id, int member_id, void *buffer,
                                    const Fenix_Data_subset subset_specifier);
/** Opens a file in memory: what is written to it is staged by Fenix_Data_member_stage_end, instead of the member's buffer.
 * Nothing else may be done with the member in between. Local. */
int Fenix_Data_member_stage_begin(int group_id, int member_id, FILE **file);
/** Closes the file. Its length must be a multiple of the size of an element. Local. */
int Fenix_Data_member_stage_end(int group_id, int member_id);

/** Makes a snapshot of all that was stored, which survives failures when this returns. Collective over the ranks.
 * `time_stamp` may be NULL. */
int Fenix_Data_commit(int group_id, int *time_stamp);
int Fenix_Data_commit_barrier(int group_id, int *time_stamp);
/** Stores all members, in the order in which they were created, and commits. `storev_ids`: those stored by storev.
 * Collective over the ranks. */
int Fenix_Data_checkpoint(int group_id, const Fenix_Data_subset subset_specifier, int num_storev, int *storev_ids,
                          int *time_stamp);
/** Returns when all ranks have come here. */
int Fenix_Data_barrier(int group_id);

/** Fills `target_buffer` with the first `max_count` elements of the member as they were in that snapshot, or with each at
 * its newest value (FENIX_DATA_SNAPSHOT_ALL). Those that were not stored are left alone, and
 * FENIX_WARNING_PARTIAL_RESTORE is returned. `found_data`, if not NULL, becomes a subset of those that are there.
 * `max_count` 0 copies nothing, in programs for Fenix 1.0 everything. Collective over the ranks. */
int Fenix_Data_member_restore(int group_id, int member_id, void *target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset *found_data);
/** The same, from what is here already. Local. */
int Fenix_Data_member_lrestore(int group_id, int member_id, void *target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset *found_data);
/** Brings back what is committed, on all ranks, and copies nothing. A member that this process does not know is created
 * without a buffer. Collective over the ranks. */
int Fenix_Data_member_repair(int group_id, int member_id);
/** Fills the member's buffer, or `target`, from what is here: as Fenix_Data_member_lrestore. Local. */
int Fenix_Data_member_load(int group_id, int member_id, int time_stamp, Fenix_Data_subset *found_data);
int Fenix_Data_member_load_to(int group_id, int member_id, void *target, int target_count, int time_stamp,
                              Fenix_Data_subset *found_data);
/** Opens a file in memory that has the member's bytes as they were in that snapshot. Local. */
int Fenix_Data_member_load_begin(int group_id, int member_id, FILE **file, int time_stamp,
                                 Fenix_Data_subset *found_data);
/** Closes it. Local. */
int Fenix_Data_member_load_end(int group_id, int member_id);
/** The same, with the data of `source_rank`, which may be another on each rank. Fenix as of 2026 has other arguments,
 * which are accepted, too: group_id, member_id, target_buffer, max_count, time_stamp, found_data, source_rank. Collective
 * over the ranks. */
int Fenix_Data_member_restore_from_rank(int member_id, void *target_buffer, int max_count, int time_stamp, int group_id,
                                        int source_rank);

/** Elements start_offset to end_offset, the latter included, and the same `stride` further on, num_blocks times. To be
 * deleted. Local; also before Fenix_Init. */
int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset *subset_specifier);
int Fenix_Data_subset_createv(int num_blocks, int *array_start_offsets, int *array_end_offsets,
                              Fenix_Data_subset *subset_specifier);
int Fenix_Data_subset_delete(Fenix_Data_subset *subset_specifier);

/* Questions about groups; all local. Members are numbered as they were created, snapshots from the newest. */
int Fenix_Data_group_get_number_of_members(int group_id, int *number_of_members);
int Fenix_Data_group_get_member_at_position(int group_id, int *member_id, int position);
int Fenix_Data_group_get_number_of_snapshots(int group_id, int *number_of_snapshots);
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int *time_stamp);
/** With the six arguments of Fenix 1.0: `attributevalue` points to a void *, an int, an MPI_Datatype, an int (bytes of an
 * element). `*flag`: whether there is an answer; of other ranks' members there is none. With five, without `source_rank`,
 * as in Fenix as of 2026: the MPI_Datatype is a duplicate that the program frees, the size is a size_t, of all elements,
 * and `*flag` becomes what is returned. */
int Fenix_Data_member_attr_get(int group_id, int member_id, int attributename, void *attributevalue, int *flag,
                               int source_rank);
/** `attribute_value` is the buffer itself, or points to an int, an MPI_Datatype; as Fenix_Data_member_define. `*flag`
 * becomes what is returned. */
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void *attribute_value, int *flag);

/** Forgets a snapshot, or FENIX_DATA_SNAPSHOT_ALL. Local. */
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);
int Fenix_Data_group_delete(int group_id);
int Fenix_Data_member_delete(int group_id, int member_id);

/* Message logs. While one is active, messages and collective calls on its communicator are kept, so that a process that
 * takes over a rank goes through its work again alone. Numbers of logs and regions are from 0 up. */
#define FENIX_MLOG_NONE -1
#define FENIX_MLOG_CONTINUE -1
/** `comm` points to the resilient communicator, or to a duplicate, and is read again by Fenix_Mlog_sync. `depth`: how many
 * regions are kept, from 1 up. Local. */
int Fenix_Mlog_create(int mlog_id, MPI_Comm *comm, int depth);
/** From now on this log is the active one, and no other; FENIX_MLOG_NONE: none is. Local. */
int Fenix_Mlog_activate(int mlog_id);
int Fenix_Mlog_active(int *mlog_id);
/** `region_id` must be larger than that of the region before, unless that has no messages yet. Local. */
int Fenix_Mlog_begin_region(int mlog_id, int region_id);
/** Both of it. Local. */
int Fenix_Mlog_activate_region(int mlog_id, int region_id);
/** After each failure: this rank goes on at the beginning of that region, or, with FENIX_MLOG_CONTINUE, where its log is.
 * Those who are further send again what the others need. Before that the log cannot be used. Collective over the ranks.
 * Returns FENIX_ERROR_NODATA_FOUND, on all, if what a rank needs is not kept any more. */
int Fenix_Mlog_sync(int mlog_id, int region_id);
/** A member of the group is this log as it is when the member is stored, and restoring the member restores the log. A
 * process that takes over a rank defines it anew, before it restores. Local. */
int Fenix_Mlog_create_data_member(int mlog_id, int group_id, int member_id);
int Fenix_Mlog_define_data_member(int mlog_id, int group_id, int member_id);
int Fenix_Mlog_delete(int mlog_id);

/* Functions with the arguments that they have in Fenix as of 2026, if 1.0 had others. */
Fenix_Rank_role mend_fenix_own_role(void);
int mend_fenix_restore_from_rank(int group_id, int member_id, void *target_buffer, int max_count, int time_stamp,
                                 Fenix_Data_subset *found_data, int source_rank);
int mend_fenix_member_attr_get(int group_id, int member_id, int attributename, void *attributevalue, int *flag);

#ifdef __cplusplus
} /* extern "C" */

#include "fenix_exception.hpp"

namespace Fenix {
/// Has survivors throw CommException instead of jumping or returning.
inline int register_exception_callback() { return Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW); }
}  // namespace Fenix

/// With the arguments that they have in Fenix as of 2026, beside those of 1.0.
inline Fenix_Rank_role Fenix_get_role() { return mend_fenix_own_role(); }
inline int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count,
                                               int time_stamp, Fenix_Data_subset* found_data, int source_rank) {
  return mend_fenix_restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, found_data, source_rank);
}
inline int Fenix_Data_member_attr_get(int group_id, int member_id, int attributename, void* attributevalue, int* flag) {
  return mend_fenix_member_attr_get(group_id, member_id, attributename, attributevalue, flag);
}
#else
/* The same in C: the number of arguments tells which is meant. */
#define Fenix_get_role(...) \
  MEND_FENIX_FOURTH(__VA_ARGS__, Fenix_get_role, 0, mend_fenix_own_role, 0)(__VA_ARGS__)
#define Fenix_Data_member_restore_from_rank(...)                                                                 \
  MEND_FENIX_EIGHTH(__VA_ARGS__, mend_fenix_restore_from_rank, Fenix_Data_member_restore_from_rank, 0, 0, 0, 0, 0, 0) \
  (__VA_ARGS__)
#define Fenix_Data_member_attr_get(...)                                                                           \
  MEND_FENIX_SEVENTH(__VA_ARGS__, Fenix_Data_member_attr_get, mend_fenix_member_attr_get, 0, 0, 0, 0, 0)(__VA_ARGS__)
#define MEND_FENIX_SEVENTH(a1, a2, a3, a4, a5, a6, seventh, ...) seventh
#define MEND_FENIX_FOURTH(a1, a2, a3, fourth, ...) fourth
#define MEND_FENIX_EIGHTH(a1, a2, a3, a4, a5, a6, a7, eighth, ...) eighth
#endif

#if defined(__cplusplus) && __cplusplus >= 201703L
#include "fenix.hpp"
#endif

#endif
