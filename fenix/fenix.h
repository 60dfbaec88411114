/* The interface of Fenix for C as of 2026, implemented by mend. Programs written for Fenix compile against this header
 * unchanged and link `fenix` (find_package(fenix)) or mend::fenix (find_package(mend)). docs/fenix.md describes every
 * function here, and how it differs from Fenix. From C++17 on, this header includes fenix.hpp.
 *
 *     MPI_Init(&argc, &argv);
 *     Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &error);
 *     if (role == FENIX_ROLE_INITIAL_RANK) { create and fill the data }           // first time
 *     else                                 { Fenix_Data_member_restore(...) }     // survivors and replacements
 *     while (...) { plain MPI on comm; Fenix_Data_member_store(...); Fenix_Data_commit(...); }
 *     Fenix_Finalize();
 *     MPI_Finalize();
 *
 * When a process dies, a spare takes its rank and leaves Fenix_Init as FENIX_ROLE_RECOVERED_RANK; survivors leave their
 * MPI call and return from Fenix_Init once more, or their MPI call returns an error or throws (FENIX_RESUME_MODE).
 *
 * Unless a comment says otherwise, functions are called by the thread that called Fenix_Init, between Fenix_Init and
 * Fenix_Finalize, and return FENIX_SUCCESS or one of the codes in fenix_codes.h. A collective function that meets a
 * failure recovers from it, and then resumes as FENIX_RESUME_MODE says. A wrong argument is also reported on standard
 * error, in a sentence. "The ranks" are those of the resilient communicator.
 *
 * Programs for Fenix 1.0 compile too: Fenix_Init may have nine arguments. In such programs, and in those that define
 * FENIX_SNAPSHOTS_ACCUMULATE before the include, FENIX_DATA_SNAPSHOT_LATEST or a time stamp means all elements that
 * were ever stored, each with the value that it had in that snapshot. Otherwise it means only the elements that were
 * stored for that snapshot, and FENIX_DATA_SNAPSHOT_ALL means all.
 *
 * C99 and C++.
 */

#ifndef MEND_FENIX_H
#define MEND_FENIX_H

#include <mpi.h>
#include <mpi-ext.h>
#include <setjmp.h>
#include <stdio.h>
/* Programs for Fenix 1.0 rely on its header for these. */
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int spawn,
 *            MPI_Info info, int *error)
 * Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int *error)
 *
 * Makes the last `spares` processes of `comm` spares, and the resilient communicator `*new_comm` of the others.
 * Collective over all launched processes, which must be those of `comm`; once, after MPI_Init. The function that calls
 * it must not return before Fenix_Finalize, because survivors return from Fenix_Init again. A spare returns from it
 * when it has taken over a rank; if it never does, it exits when the job is over. `*role`, `*new_comm` and `*error` are
 * written again in each recovery, so they must exist until Fenix_Finalize. Keys of `info`: FENIX_RESUME_MODE
 * (Fenix_init or JUMP, NO_JUMP or RETURN, THROW) and FENIX_UNHANDLED_MODE (SILENT, PRINT, ABORT). Removes mend's own
 * flags (--mend-...) from the command line. Wrong arguments end the job with exit code 2. */
#define Fenix_Init(...) \
  MEND_FENIX_TENTH(__VA_ARGS__, MEND_FENIX_INIT_9, MEND_FENIX_INIT_8, MEND_FENIX_INIT_7, 0)(__VA_ARGS__)

#define MEND_FENIX_TENTH(a1, a2, a3, a4, a5, a6, a7, a8, a9, tenth, ...) tenth
#define MEND_FENIX_INIT_7(role, comm, new_comm, argc, argv, spares, error) \
  MEND_FENIX_INIT(role, comm, new_comm, argc, argv, spares, 0, MPI_INFO_NULL, error, MEND_FENIX_ACCUMULATES)
#define MEND_FENIX_INIT_9(role, comm, new_comm, argc, argv, spares, spawn, info, error) \
  MEND_FENIX_INIT(role, comm, new_comm, argc, argv, spares, spawn, info, error, 2)
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

/* Functions that the macro Fenix_Init calls. `accumulate`: 0 no, 1 yes, 2 yes, and it is a program for 1.0. */
void mend_fenix_accumulate_snapshots(int accumulate);
void mend_fenix_start(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int spawn,
                      MPI_Info info, int *error, jmp_buf *resume_point);
void mend_fenix_report(void);

/** Sets `*flag` to 1 between Fenix_Init and the return of Fenix_Finalize, else to 0. At any time. Local. */
int Fenix_Initialized(int *flag);
/** Sets `*flag` to 1 after Fenix_Finalize, else to 0. At any time. Local. */
int Fenix_Finalized(int *flag);

/** Sets a setting to one of the values of its enumeration (fenix_codes.h); the same on all ranks. Also before
 * Fenix_Init. Local. */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);
/** Reads a setting. Also before Fenix_Init. Local. */
int Fenix_get_option(Fenix_Setting_name setting, unsigned *option);

/** Registers a function that is called on this rank after each recovery that it has survived, with the repaired
 * communicator, MPI's error code and `callback_data`. The function that was registered last is called first. Local. */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void *), void *callback_data);
/** Removes the callback that was registered last. Local. */
int Fenix_Callback_pop(void);
/** Calls all callbacks with the arguments of the most recent recovery. Local. */
int Fenix_Callback_invoke_all(void);

/** Revokes `comm`: calls on it return with an error, on all its processes. Called by any one process of `comm`. */
int Fenix_comm_revoke(MPI_Comm comm);

/** Returns FENIX_ERROR_PROCESS_FAILURE if this rank knows of a failure, and recovers from it if `do_recovery`; else
 * FENIX_SUCCESS. For programs that compute for long without a call of MPI. Local if there is no failure. */
int Fenix_Process_detect_failures(int do_recovery);
/** Stores how many processes have `role` (Fenix_Rank_role): ranks, waiting spares, or missing ranks. Local. */
int Fenix_get_number_of_ranks_with_role(int role, int *number_of_ranks);
/** Stores the role of `rank` of `comm`, which may be derived from the resilient communicator. Without arguments, as in
 * Fenix as of 2026, returns the role of this rank, and after Fenix_Finalize the one that it had then. Local. */
int Fenix_get_role(MPI_Comm comm, int rank, int *role);
/** Fenix_get_role with three arguments. Local. */
int Fenix_get_rank_role(MPI_Comm comm, int rank, int *role);
/** Returns the slot of this rank: the number that it had at the start of the job, which does not change when ranks are
 * given up and the others are renumbered. The process that takes over a rank has the slot of that rank. Local. */
int Fenix_get_slot(void);
/** Stores the slot of `rank` of `comm`; MPI_UNDEFINED if that rank is not in the resilient communicator. Local. */
int Fenix_rank_to_slot(MPI_Comm comm, int rank, int *slot);
/** Stores the rank in `comm` that has `slot`; MPI_UNDEFINED if there is none. Local. */
int Fenix_slot_to_rank(MPI_Comm comm, int slot, int *rank);
/** Makes the group of the processes that now have the slots of `old_group`, in the same order. Slots that no longer
 * exist are left out. The program frees the group. Local. */
int Fenix_repair_group(MPI_Group old_group, MPI_Group *new_group);
/** Returns the value of `*error` of Fenix_Init. Local. */
int Fenix_get_error(void);
/** Returns the number of waiting spares. Local. */
int Fenix_get_nspare(void);
/** Returns how many ranks lost their processes in the most recent failure. `*fail_list` becomes an array of these
 * ranks, numbered as before the failure, which exists until the next one. Local. */
int Fenix_Process_fail_list(int **fail_list);
/** Tests a request that was begun before a recovery. Returns 0 if it has completed; 1 if not, or if the failure has
 * cancelled it. `status` is as for MPI_Test. Local. */
int Fenix_check_cancelled(MPI_Request *request, MPI_Status *status);

/** Ends the job when all ranks have called it; the spares exit. Collective over the ranks. After a failure in it,
 * survivors return from Fenix_Init again, as after any other. The program may use the resilient communicator until
 * MPI_Finalize. */
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
/** No copies are made: the data of a process is lost when it dies. */
#define FENIX_DATA_POLICY_LOCAL 14
#define FENIX_TIME_STAMP_IGNORE NULL
/** As a target: the member's own buffer. As a count: all elements. */
#define FENIX_DATA_RESTORE_INPLACE NULL
#define FENIX_DATA_RESTORE_FULL 2147483647
/** As `num_storev` of Fenix_Data_checkpoint: all members. */
#define FENIX_STOREV_ALL -1
/** The direction that a serializer is called with. */
#define FENIX_SERIALIZE 0
#define FENIX_DESERIALIZE 1

/** Writes elements `offset` to `offset + count - 1` of `buffer` to `file`, or reads them from it, according to
 * `direction`. `count` is FENIX_RESIZEABLE when a resizable member is to be written whole. The function must not seek.
 * */
typedef void (*Fenix_Serialize_file_fn)(FILE *file, int direction, void *buffer, int offset, int count, void *context);

typedef struct {
  MPI_Request mpi_send_req;
  MPI_Request mpi_recv_req;
} Fenix_Request;

extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
extern const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
/** The elements that Fenix_Data_member_stage has staged. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
#define FENIX_DATA_SUBSET_IGNORE ((Fenix_Data_subset *)NULL)

/** Creates a data group: members that are committed together. `comm` is the resilient communicator or one made from it.
 * Every rank passes one; the groups with one number on the parts of a split are one group, and all ranks commit
 * together. The last `depth`+1 snapshots are kept; the first has the time stamp `start_time_stamp`. `policy_value` is
 * int[]{1, separation} or int[]{5, separation, group size}, or NULL for the former. `*flag` becomes the returned code.
 * After a failure every rank creates its groups again, in the same order, and finds the members and snapshots of the
 * last commit, also for a rank that was taken over. Collective over the ranks. */
int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void *policy_value, int *flag);
/** Returns 1 if this process has created the group, else 0. Local. */
int Fenix_Data_group_created(int group_id);
/** Adds a member of `count` elements in `buffer` to the group. With FENIX_RESIZEABLE, each store says how many elements
 * there are. The buffer must exist until the member is deleted. If the member exists, its definition is replaced.
 * Returns FENIX_ERROR_MEMBER_CREATE for a type whose data is not within its extent, from 0 up. Local. */
int Fenix_Data_member_create(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype);
/** Returns 1 if the member exists here, else 0. Local. */
int Fenix_Data_member_created(int group_id, int member_id);
/** Replaces the definition of a member, as Fenix_Data_member_create does. A member that has data keeps its number of
 * elements and their size. Removes its serializer. Local. */
int Fenix_Data_member_define(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype);
/** Fenix_Data_member_create with a function that writes and reads the elements; NULL removes it. A process that has
 * taken over a rank calls this before it restores the member. Local. */
int Fenix_Data_member_fcreate(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void *context);
/** Fenix_Data_member_define with a function that writes and reads the elements; NULL removes it. Local. */
int Fenix_Data_member_fdefine(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void *context);
/** Stores the group of the ranks of the communicator that the data group was created with, or of this rank alone with
 * FENIX_DATA_POLICY_LOCAL. The program frees it. Local. */
int Fenix_Data_group_get_cohort(int group_id, MPI_Group *cohort);
/** Stores the policy of the group, in the form that Fenix_Data_group_create takes: up to three int in `policy_value`.
 * `*flag` becomes the returned code. Local. */
int Fenix_Data_group_get_redundancy_policy(int group_id, int *policy_name, void *policy_value, int *flag);

/** Copies these elements of a member, or of all (FENIX_DATA_MEMBER_ALL), for the next commit. The buffer may change
 * when it returns. The subset is the same on all ranks. Collective over the ranks. */
int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
/** Fenix_Data_member_store with a subset that may differ between ranks. Collective over the ranks. */
int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
/** Fenix_Data_member_store that is completed by Fenix_Data_wait or Fenix_Data_test. Collective over the ranks. */
int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request *request);
/** Fenix_Data_member_storev that is completed by Fenix_Data_wait or Fenix_Data_test. Collective over the ranks. */
int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request *request);
/** Waits until the store of `request` is complete. Local. */
int Fenix_Data_wait(Fenix_Request request);
/** Sets `*flag` to 1 if the store of `request` is complete, else to 0. Local. */
int Fenix_Data_test(Fenix_Request request, int *flag);
/** Copies these elements now. A store of FENIX_DATA_SUBSET_PRESTAGED adds them to the next commit. Local. */
int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
/** Stages elements from `buffer`, which must come from malloc and is freed here, instead of the member's buffer.
 * Elements that were staged before are dropped. Local. */
int Fenix_Data_member_stage_inplace(int group_id, int member_id, void *buffer,
                                    const Fenix_Data_subset subset_specifier);
/** Opens a file in memory for writing. Fenix_Data_member_stage_end stages its content instead of the member's buffer.
 * No other function may be called for the member in between. Local. */
int Fenix_Data_member_stage_begin(int group_id, int member_id, FILE **file);
/** Closes the file. Its length must be a multiple of the size of an element. Local. */
int Fenix_Data_member_stage_end(int group_id, int member_id);

/** Makes a snapshot of everything that was stored. It survives failures when this returns. `*time_stamp` becomes the
 * time stamp of the snapshot; `time_stamp` may be NULL. Collective over the ranks. */
int Fenix_Data_commit(int group_id, int *time_stamp);
/** The same as Fenix_Data_commit, which is a barrier here. Collective over the ranks. */
int Fenix_Data_commit_barrier(int group_id, int *time_stamp);
/** Stores all members, in the order in which they were created, and commits. `storev_ids`: the `num_storev` members
 * that are stored as by Fenix_Data_member_storev. Collective over the ranks. */
int Fenix_Data_checkpoint(int group_id, const Fenix_Data_subset subset_specifier, int num_storev, int *storev_ids,
                          int *time_stamp);
/** Returns when all ranks have called it. Collective over the ranks. */
int Fenix_Data_barrier(int group_id);

/** Copies the first `max_count` elements of the member into `target_buffer`, as they were in that snapshot, or each
 * with its newest value (FENIX_DATA_SNAPSHOT_ALL). Elements that were not stored are not changed, and
 * FENIX_WARNING_PARTIAL_RESTORE is returned. `*found_data`, if not NULL, becomes the subset of the elements that were
 * found. A `max_count` of 0 copies nothing; in programs for Fenix 1.0, everything. There, a `target_buffer` of NULL
 * copies nothing, unless `max_count` is FENIX_DATA_RESTORE_FULL. Returns FENIX_ERROR_NODATA_FOUND if there is no such
 * snapshot. Collective over the ranks. */
int Fenix_Data_member_restore(int group_id, int member_id, void *target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset *found_data);
/** Fenix_Data_member_restore from the snapshots that this process holds. Local. */
int Fenix_Data_member_lrestore(int group_id, int member_id, void *target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset *found_data);
/** Restores the committed snapshots of the member on ranks that have taken over, without copying them into a buffer. A
 * member that this process has not created is created without a buffer. Collective over the ranks. */
int Fenix_Data_member_repair(int group_id, int member_id);
/** Copies the member into its own buffer, as Fenix_Data_member_lrestore does. Local. */
int Fenix_Data_member_load(int group_id, int member_id, int time_stamp, Fenix_Data_subset *found_data);
/** Copies the first `target_count` elements of the member into `target`. Local. */
int Fenix_Data_member_load_to(int group_id, int member_id, void *target, int target_count, int time_stamp,
                              Fenix_Data_subset *found_data);
/** Opens a file in memory for reading, with the bytes of the member in that snapshot. Local. */
int Fenix_Data_member_load_begin(int group_id, int member_id, FILE **file, int time_stamp,
                                 Fenix_Data_subset *found_data);
/** The spelling in Fenix's own header. */
#define Fenix_data_member_load_begin Fenix_Data_member_load_begin
/** Closes the file of Fenix_Data_member_load_begin. Local. */
int Fenix_Data_member_load_end(int group_id, int member_id);
/** Fenix_Data_member_restore with the data of `source_rank`, which may differ between ranks. Fenix as of 2026 has other
 * arguments, which are accepted too: group_id, member_id, target_buffer, max_count, time_stamp, found_data,
 * source_rank. Collective over the ranks. */
int Fenix_Data_member_restore_from_rank(int member_id, void *target_buffer, int max_count, int time_stamp, int group_id,
                                        int source_rank);

/** Creates a subset of `num_blocks` blocks: elements `start_offset` to `end_offset`, both included, and the same again
 * every `stride` elements. The program deletes it. Also before Fenix_Init. Local. */
int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset *subset_specifier);
/** Creates a subset of blocks with these first and last elements. The program deletes it. Also before Fenix_Init.
 * Local. */
int Fenix_Data_subset_createv(int num_blocks, int *array_start_offsets, int *array_end_offsets,
                              Fenix_Data_subset *subset_specifier);
/** Deletes a subset. Also before Fenix_Init. Local. */
int Fenix_Data_subset_delete(Fenix_Data_subset *subset_specifier);

/** Stores the number of members. Local. */
int Fenix_Data_group_get_number_of_members(int group_id, int *number_of_members);
/** Stores the id of the member that was created as number `position`, from 0. Local. */
int Fenix_Data_group_get_member_at_position(int group_id, int *member_id, int position);
/** Stores the number of snapshots. Local. */
int Fenix_Data_group_get_number_of_snapshots(int group_id, int *number_of_snapshots);
/** Stores the time stamp of snapshot `position`, counted from the newest, which is 0. Local. */
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int *time_stamp);
/** Stores an attribute of a member. With the six arguments of Fenix 1.0, `attributevalue` points to a void * (buffer),
 * an int (count), an MPI_Datatype, or an int (bytes of one element), and `*flag` becomes 1 if there is an answer:
 * members of other ranks have none. With five arguments, without `source_rank`, as in Fenix as of 2026, the
 * MPI_Datatype is a duplicate that the program frees, the size is a size_t, of all elements, and `*flag` becomes the
 * returned code. Local. */
int Fenix_Data_member_attr_get(int group_id, int member_id, int attributename, void *attributevalue, int *flag,
                               int source_rank);
/** Changes an attribute of a member, as Fenix_Data_member_define does. `attribute_value` is the buffer itself, or
 * points to an int (count) or an MPI_Datatype. `*flag` becomes the returned code. Local. */
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void *attribute_value, int *flag);

/** Deletes a snapshot, or all (FENIX_DATA_SNAPSHOT_ALL). Local. */
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);
/** Deletes a group with its members and snapshots. Local. */
int Fenix_Data_group_delete(int group_id);
/** Deletes a member. Local. */
int Fenix_Data_member_delete(int group_id, int member_id);

/* Message logs. While one is active, messages and collective calls on its communicator are logged, so that a process
 * that takes over a rank can repeat its work while the others wait. Logs and regions are numbered from 0. */
#define FENIX_MLOG_NONE -1
#define FENIX_MLOG_CONTINUE -1
/** Creates a message log. `comm` points to the resilient communicator or a duplicate of it; Fenix_Mlog_sync reads it
 * again. `depth`: the number of regions that are kept, at least 1. Local. */
int Fenix_Mlog_create(int mlog_id, MPI_Comm *comm, int depth);
/** Makes this log the active one, or none (FENIX_MLOG_NONE). Local. */
int Fenix_Mlog_activate(int mlog_id);
/** Stores the number of the active log, or FENIX_MLOG_NONE. Local. */
int Fenix_Mlog_active(int *mlog_id);
/** Begins a region. `region_id` must be larger than that of the last region, unless that has no messages yet. Local. */
int Fenix_Mlog_begin_region(int mlog_id, int region_id);
/** Activates the log and begins the region. Local. */
int Fenix_Mlog_activate_region(int mlog_id, int region_id);
/** Must be called after each failure, before the log is used again. This rank continues at the beginning of that
 * region, or, with FENIX_MLOG_CONTINUE, where its log ends. Ranks that are ahead send again what the others need.
 * Returns FENIX_ERROR_NODATA_FOUND on all ranks if a message that a rank needs is no longer kept. Collective over the
 * ranks. */
int Fenix_Mlog_sync(int mlog_id, int region_id);
/** Adds the log to a data group, as a member: storing the member stores the log, and restoring the member restores the
 * log. Local. */
int Fenix_Mlog_create_data_member(int mlog_id, int group_id, int member_id);
/** Defines the member of a log again, in a process that has taken over a rank, before it restores it. Local. */
int Fenix_Mlog_define_data_member(int mlog_id, int group_id, int member_id);
/** Deletes a message log. Local. */
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
/// Makes survivors throw CommException instead of jumping or returning. Returns FENIX_SUCCESS. Local.
inline int register_exception_callback() { return Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW); }
}  // namespace Fenix

/// With the arguments that they have in Fenix as of 2026, beside those of 1.0.
inline Fenix_Rank_role Fenix_get_role() { return mend_fenix_own_role(); }
inline int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count,
                                               int time_stamp, Fenix_Data_subset* found_data, int source_rank) {
  return mend_fenix_restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, found_data,
                                      source_rank);
}
inline int Fenix_Data_member_attr_get(int group_id, int member_id, int attributename, void* attributevalue, int* flag) {
  return mend_fenix_member_attr_get(group_id, member_id, attributename, attributevalue, flag);
}
#else
/* The same in C: the number of arguments selects the function. */
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
