/* The interface of Fenix 1.0, carried out by mend: programs written for Fenix compile against this header unchanged, and
 * link with mend::fenix. docs/fenix.md says of every function what it does here, and where that differs from Fenix.
 *
 *     MPI_Init(&argc, &argv);
 *     Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, 0, MPI_INFO_NULL, &error);
 *     if (role == FENIX_ROLE_INITIAL_RANK) { create and fill the data }           // first time
 *     else                                 { Fenix_Data_member_restore(...) }     // survivors and those who took over
 *     while (...) { plain MPI on comm; Fenix_Data_member_store(...); Fenix_Data_commit(...); }
 *     Fenix_Finalize();
 *     MPI_Finalize();
 *
 * When a process dies, a spare takes its rank and leaves Fenix_Init as FENIX_ROLE_RECOVERED_RANK; survivors leave their
 * MPI call and return from Fenix_Init once more, or stay where they are (FENIX_RESUME_MODE).
 *
 * C99 and C++. The C++ parts of Fenix that are here: fenix::CommException, and overloads where Fenix changed a function.
 */

#ifndef MEND_FENIX_H
#define MEND_FENIX_H

#include <mpi.h>
#include <mpi-ext.h>
#include <setjmp.h>

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

/* --- what functions return: errors are negative, warnings positive -------------------------------------------- */

#define FENIX_SUCCESS 0
#define FENIX_ERROR_UNINITIALIZED -9
#define FENIX_ERROR_NOCATEGORY -10
#define FENIX_ERROR_CALLBACK_NOT_REGISTERED -11
#define FENIX_ERROR_GROUP_CREATE -12
#define FENIX_ERROR_MEMBER_CREATE -13
#define FENIX_ERROR_COMMIT_BARRIER -133
#define FENIX_ERROR_INVALID_GROUPID -14
#define FENIX_ERROR_INVALID_MEMBERID -15
#define FENIX_ERROR_INVALID_LOGIC_CALL -155
#define FENIX_ERROR_INVALID_POLICY_NAME -156
#define FENIX_ERROR_INVALID_TIMESTAMP -16
#define FENIX_ERROR_INVALID_DEPTH -17
#define FENIX_ERROR_INVALID_ATTRIBUTE_NAME -18
#define FENIX_ERROR_INVALID_ATTRIBUTE_VALUE -19
#define FENIX_ERROR_INVALID_POSITION -20
#define FENIX_ERROR_DATA_WAIT -21
#define FENIX_ERROR_SUBSET_NUM_BLOCKS -22
#define FENIX_ERROR_SUBSET_START_OFFSET -23
#define FENIX_ERROR_SUBSET_END_OFFSET -24
#define FENIX_ERROR_SUBSET_STRIDE -25
#define FENIX_ERROR_NODATA_FOUND -30
#define FENIX_ERROR_INTERN -40
#define FENIX_ERROR_CANCELLED -50 /**< a failure came first, and has been recovered from */
#define FENIX_ERROR_INVALID_SETTING_NAME -51
#define FENIX_ERROR_INVALID_SETTING_OPTION -52
#define FENIX_WARNING_SPARE_RANKS_DEPLETED 100
#define FENIX_WARNING_PARTIAL_RESTORE 101
/* As it was spelt at first. */
#define FENIX_ERROR_CALLBACK_NOT_REGISTERD FENIX_ERROR_CALLBACK_NOT_REGISTERED

/* --- processes ------------------------------------------------------------------------------------------------- */

typedef enum {
  FENIX_ROLE_INITIAL_RANK = 0,   /**< nothing has failed yet */
  FENIX_ROLE_RECOVERED_RANK = 1, /**< took over a rank in the most recent recovery */
  FENIX_ROLE_SURVIVOR_RANK = 2   /**< had its rank before that */
} Fenix_Rank_role;

typedef enum {
  FENIX_RECOVERY_MODE,
  FENIX_RESUME_MODE,
  FENIX_UNHANDLED_MODE,
  FENIX_CALLBACK_EXCEPTION_MODE,
  FENIX_SETTING_NAME_MAXCODE
} Fenix_Setting_name;

typedef enum {
  FENIX_RECOVERY_IGNORE, /**< errors are returned, nothing is recovered */
  FENIX_RECOVERY_NOOP,   /**< not to be had here */
  FENIX_RECOVERY_REPAIR, /**< the default */
  FENIX_RECOVERY_SPAWN,
  FENIX_RECOVERY_MODE_MAXCODE
} Fenix_Recovery_mode;

/** Where survivors go on. */
typedef enum {
  FENIX_RESUME_JUMP,   /**< they return from Fenix_Init, by longjmp: the default */
  FENIX_RESUME_RETURN, /**< the call that met the failure returns its error */
  FENIX_RESUME_THROW,  /**< it throws fenix::CommException */
  FENIX_RESUME_MODE_MAXCODE
} Fenix_Resume_mode;

/** What comes of errors of MPI that are no failures. */
typedef enum {
  FENIX_UNHANDLED_SILENT, /**< the call returns its error */
  FENIX_UNHANDLED_PRINT,  /**< and says so */
  FENIX_UNHANDLED_ABORT,  /**< the job ends with it: the default */
  FENIX_UNHANDLED_MODE_MAXCODE
} Fenix_Unhandled_mode;

typedef enum {
  FENIX_CALLBACK_EXCEPTION_RETHROW,
  FENIX_CALLBACK_EXCEPTION_SQUASH,
  FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE
} Fenix_Callback_exception_mode;

/* Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int spawn, MPI_Info info,
 *            int *error)
 * Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int *error)
 *
 * Sets `spares` of the processes of `comm` aside, and makes of the others the resilient communicator `*new_comm`.
 * Collective over all processes launched, which must be those of `comm`, once, after MPI_Init; not within a function that
 * returns before Fenix_Finalize, because survivors return from it again. Spares come out of it when they have got a rank,
 * or not at all: they exit when the job is over. What `*role`, `*new_comm` and `*error` are is written at each recovery,
 * so they must live as long. Keys of `info`: FENIX_RESUME_MODE (Fenix_init or JUMP, NO_JUMP or RETURN, THROW) and
 * FENIX_UNHANDLED_MODE (SILENT, PRINT, ABORT). Takes mend's own flags (--mend-...) out of the command line. */
#define Fenix_Init(...) \
  MEND_FENIX_TENTH(__VA_ARGS__, MEND_FENIX_INIT_9, MEND_FENIX_INIT_8, MEND_FENIX_INIT_7, 0)(__VA_ARGS__)

#define MEND_FENIX_TENTH(a1, a2, a3, a4, a5, a6, a7, a8, a9, tenth, ...) tenth
#define MEND_FENIX_INIT_7(role, comm, new_comm, argc, argv, spares, error) \
  MEND_FENIX_INIT_9(role, comm, new_comm, argc, argv, spares, 0, MPI_INFO_NULL, error)
#define MEND_FENIX_INIT_9(role, comm, new_comm, argc, argv, spares, spawn, info, error)                               \
  {                                                                                                                   \
    static jmp_buf mend_fenix_resume_point;                                                                           \
    mend_fenix_start(role, comm, new_comm, argc, argv, spares, spawn, info, error, &mend_fenix_resume_point);         \
    (void)setjmp(mend_fenix_resume_point);                                                                            \
    mend_fenix_report();                                                                                              \
  }

/* Parts of Fenix_Init. */
void mend_fenix_start(int *role, MPI_Comm comm, MPI_Comm *new_comm, int *argc, char ***argv, int spares, int spawn,
                      MPI_Info info, int *error, jmp_buf *resume_point);
void mend_fenix_report(void);

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

/** MPI_SUCCESS, or the error class of a failure that is known here; it is recovered from if `do_recovery`. For long
 * stretches without MPI. Local, unless there is a failure. */
int Fenix_Process_detect_failures(int do_recovery);
/** How many ranks have `role`. Local. */
int Fenix_get_number_of_ranks_with_role(int role, int *number_of_ranks);
/** The role of `rank` of `comm`, which may be derived from the resilient communicator. Local. */
int Fenix_get_role(MPI_Comm comm, int rank, int *role);
int Fenix_get_rank_role(MPI_Comm comm, int rank, int *role);
/** As `*error` of Fenix_Init. Local. */
int Fenix_get_error(void);
/** How many spares wait. Local. */
int Fenix_get_nspare(void);
/** The ranks whose processes died in the most recent failure, in `*fail_list` until the next; returns how many. Local. */
int Fenix_Process_fail_list(int **fail_list);
/** Whether a request from before a recovery was cancelled by that: 0 if it completed well. Local. */
int Fenix_check_cancelled(MPI_Request *request, MPI_Status *status);

/** Collective over the ranks: when all have come, the job is over and the spares exit. A failure before that is recovered
 * from; so even from here survivors may return to Fenix_Init. */
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
#define FENIX_TIME_STAMP_IGNORE NULL

typedef struct {
  MPI_Request mpi_send_req;
  MPI_Request mpi_recv_req;
} Fenix_Request;

/** Some elements of a member. */
typedef struct {
  void *impl;
} Fenix_Data_subset;

extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
extern const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
/** What Fenix_Data_member_stage has taken already. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
#define FENIX_DATA_SUBSET_IGNORE ((Fenix_Data_subset *)NULL)

/** The group's members are committed together; `comm` has all ranks. The last depth+1 snapshots are kept; the first gets
 * the time stamp `start_time_stamp`. `policy_value`: int[]{1, separation} or int[]{5, separation, group size}, or NULL
 * for the former. After a failure every rank creates its groups anew: survivors' are as they were at the last commit,
 * and so are those of the ranks that were taken over. Collective over the ranks. */
int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void *policy_value, int *flag);
/** Whether there is such a group here. Local. */
int Fenix_Data_group_created(int group_id);
/** `buffer` has `count` elements; FENIX_RESIZEABLE: as many as each store says. One that there is already takes these.
 * Local. */
int Fenix_Data_member_create(int group_id, int member_id, void *buffer, int count, MPI_Datatype datatype);
int Fenix_Data_member_created(int group_id, int member_id);
/** `*policy_value` becomes an array as Fenix_Data_group_create takes. Local. */
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

/** Makes a snapshot of all that was stored, which survives failures when this returns. Collective over the ranks.
 * `time_stamp` may be NULL. */
int Fenix_Data_commit(int group_id, int *time_stamp);
int Fenix_Data_commit_barrier(int group_id, int *time_stamp);
/** Returns when all ranks have come here. */
int Fenix_Data_barrier(int group_id);

/** Fills `target_buffer` with the first `max_count` elements of the member as they were in that snapshot; those that were
 * never stored are left alone, and FENIX_WARNING_PARTIAL_RESTORE returned. `found_data`, if not NULL, becomes a subset of
 * those found. Collective over the ranks. */
int Fenix_Data_member_restore(int group_id, int member_id, void *target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset *found_data);
/** The same, from what is here already. Local. */
int Fenix_Data_member_lrestore(int group_id, int member_id, void *target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset *found_data);
/** The same, with the data of `source_rank`, which may be another on each rank. Collective over the ranks. */
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
/** `attributevalue` points to a void *, an int, an MPI_Datatype, an int (bytes of an element). `*flag`: whether there is
 * an answer; of other ranks' members there is none. */
int Fenix_Data_member_attr_get(int group_id, int member_id, int attributename, void *attributevalue, int *flag,
                               int source_rank);
/** `attribute_value` is the buffer itself, or points to an int, an MPI_Datatype. */
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void *attribute_value, int *flag);

/** Forgets a snapshot, or FENIX_DATA_SNAPSHOT_ALL. Local. */
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);
int Fenix_Data_group_delete(int group_id);
int Fenix_Data_member_delete(int group_id, int member_id);

#ifdef __cplusplus
} /* extern "C" */

#include <exception>

namespace fenix {

/// What FENIX_RESUME_THROW throws, when the failure has been recovered from.
struct CommException : std::exception {
  CommException(MPI_Comm comm, int error) : repaired_comm(comm), fenix_err(error) {}
  const char* what() const noexcept override { return "a process failed, and the communicator has been repaired"; }

  MPI_Comm repaired_comm;
  const int fenix_err;
};

}  // namespace fenix

namespace Fenix {
using fenix::CommException;

/// Has survivors throw CommException instead of jumping or returning.
inline int register_exception_callback() { return Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW); }
}  // namespace Fenix

/// As later versions of Fenix declare these.
Fenix_Rank_role Fenix_get_role();
int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                        Fenix_Data_subset* found_data, int source_rank);
#endif

#endif
