/* mend for C (C99) and for languages that can call C. Fortran has the module in mend.f90.
 *
 *     int body(mend_session *session, void *data) {
 *       long step = 0;
 *       mend_protect(session, "step", &step, sizeof step);
 *       int status = mend_restore(session, NULL);
 *       while (step < 1000 && status == MEND_SUCCESS) {
 *         status = advance(mend_comm(session), &step);         // plain MPI, whose errors are returned
 *         ...
 *       }
 *       return status;                                         // MEND_FAILURE: the body is entered again
 *     }
 *
 *     int main(int argc, char **argv) { return mend_run(argc, argv, body, NULL); }
 *
 * When a process dies, a function below returns MEND_FAILURE, or an MPI call on mend_comm returns an error. Then either
 * return MEND_FAILURE, or the code of MPI, from the body, which is entered again on every rank, or call mend_repair and
 * continue. session.hpp and store.hpp describe the functions in full. docs/api.md shows C, C++ and Fortran side by
 * side.
 */

#ifndef MEND_H
#define MEND_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The status codes. The numbers do not change between versions of mend. */
enum {
  MEND_SUCCESS = 0,
  MEND_FAILURE = 1, /**< a process died: return this from the body, or call mend_repair */
  MEND_END = 2,     /**< the job ends, and every rank knows the reason: return this from the body */
  MEND_ERROR = 3    /**< an error, see mend_error_text: return this from the body, and the job ends with that text */
};

/** How this process has entered the present epoch. */
enum { MEND_ROLE_INITIAL = 0, MEND_ROLE_SURVIVOR = 1, MEND_ROLE_NEWCOMER = 2 };

/** Where restored data came from. */
enum { MEND_ORIGIN_NOWHERE = 0, MEND_ORIGIN_MEMORY = 1, MEND_ORIGIN_DISK = 2 };

/** The ranks that roll back when a process dies (--mend-rollback). */
enum { MEND_ROLLBACK_ALL = 0, MEND_ROLLBACK_LOCAL = 1 };

/** The return values of mend_run: the exit codes of a job. */
enum {
  MEND_EXIT_OK = 0,
  MEND_EXIT_FAILED = 1,        /**< an error of the program */
  MEND_EXIT_USAGE = 2,         /**< wrong arguments */
  MEND_EXIT_UNRECOVERABLE = 3, /**< no spare is left, or data is lost */
  MEND_EXIT_LEFT_IN_TIME = 4   /**< the job was asked to leave; its next launch continues */
};

typedef struct mend_session mend_session;

/** The cost of commits and restores in this process so far. Times are sums. */
typedef struct {
  unsigned long commits, restores;
  unsigned long snapshot_bytes; /**< size of this rank's newest snapshot */
  unsigned long changed_bytes;  /**< bytes of it that the last commit copied and sent */
  unsigned long memory_bytes;   /**< all buffers of the store in this process */
  double commit_seconds, restore_seconds;
} mend_store_statistics;

/** One recovery, with times as this process saw them, in milliseconds. */
typedef struct {
  int epoch;    /**< the epoch that began with it */
  int rounds;   /**< more than one if a process died during the recovery */
  int dead;     /**< number of processes that died since the previous recovery, spares included */
  int replaced; /**< number of ranks that were taken over */
  int given_up; /**< number of ranks that were given up */
  double interrupt_ms, agree_ms, rebuild_ms, restore_ms;
} mend_recovery;

/** The code that every rank runs. Returns MEND_SUCCESS when it is done. MPI's error code for a death counts as
 * MEND_FAILURE; any other error code of MPI ends the job with its text. */
typedef int (*mend_body)(mend_session *session, void *data);

/** Runs `body` on every rank, and again after failures, as mend::run does. It reads the options --mend-... from the
 * arguments, and does not change the caller's arguments. Returns the exit code for main. Collective over all processes.
 * */
int mend_run(int argc, char **argv, mend_body body, void *data);
/** Ends a program that cannot start, because of its arguments or its input. Every launched process must call it instead
 * of mend_run, with the same sentence. One of them writes the sentence to standard error. Returns the exit code for
 * main. */
int mend_refuse(const char *sentence);

/** Returns the application's communicator, which is valid until the body returns or mend_repair is called. Errors of
 * MPI calls on it are returned as codes. An error other than a death must be handled: return MEND_ERROR from the body,
 * or call MPI_Error_class, MPI_Error_string or mend_error_text and continue. Otherwise the next commit or restore, or
 * the end of the body or of a transaction's work, ends the job. If MPI_ERRORS_RETURN is set on a communicator, all of
 * its errors are left to the program. Local. */
MPI_Comm mend_comm(const mend_session *session);
/** Returns the application's communicator in the form of Fortran: an integer. Local. */
MPI_Fint mend_comm_fortran(const mend_session *session);
/** Returns this process's rank in mend_comm. Local. */
int mend_rank(const mend_session *session);
/** Returns the number of ranks of mend_comm. Local. */
int mend_size(const mend_session *session);
/** Returns the number that `rank` of mend_comm had at the start of the job. The two differ after lower ranks were given
 * up. Returns MPI_PROC_NULL if mend_comm does not have this rank. Local. */
int mend_origin(const mend_session *session, int rank);
/** Returns the number of ranks at the start of the job. Local. */
int mend_original_size(const mend_session *session);
/** Returns the rank in mend_comm of the rank that had the number `origin` at the start. Returns MPI_PROC_NULL if it was
 * given up, or if no rank had this number. Local. */
int mend_rank_in_comm(const mend_session *session, int origin);
/** The number of recoveries so far. Local. */
int mend_epoch(const mend_session *session);
/** Returns how this process has entered the present epoch: one of MEND_ROLE_... Local. */
int mend_role(const mend_session *session);
/** Returns the number of the process that holds this rank. The number of a process is never used again. Local. */
int mend_process(const mend_session *session);
/** Returns the number of processes that held this rank before this one. Local. */
int mend_predecessors(const mend_session *session);
/** Returns which ranks roll back when a process dies: one of MEND_ROLLBACK_... Local. */
int mend_rollback(const mend_session *session);

/** Makes a duplicate of mend_comm. mend interrupts it if a process fails, and frees it when the body is left or
 * repaired. Collective. */
int mend_comm_dup(mend_session *session, MPI_Comm *made);
/** Makes a communicator of some of the ranks, as mend_comm_dup does. Collective. */
int mend_comm_split(mend_session *session, int color, int key, MPI_Comm *made);
/** Makes a Cartesian topology of `axes` axes, as mend_comm_dup does. Ranks keep their numbers. Collective. */
int mend_comm_cart(mend_session *session, int axes, const int *dims, const int *periods, MPI_Comm *made);
/** Makes any other communicator: `factory` makes it from `parent`, and returns the code of MPI. Otherwise as
 * mend_comm_dup. Collective. */
int mend_comm_derive(mend_session *session, int (*factory)(MPI_Comm parent, MPI_Comm *made, void *data), void *data,
                     MPI_Comm *made);

/** Protects `bytes` bytes at `data`, which must stay valid until the body is left. Call it before mend_restore, which
 * fills the data that is protected then. A name stands for one piece of memory. To use the name for another piece, as
 * with a double buffer, call mend_replace. Local. */
int mend_protect(mend_session *session, const char *name, void *data, size_t bytes);
/** Protects bytes with a redundancy of their own instead of --mend-redundancy: "local", "partner", "replicas:2",
 * "xor:4", "rs:4+2". Local. */
int mend_protect_with(mend_session *session, const char *name, void *data, size_t bytes, const char *redundancy);
/** Protects this rank's part of an array that all ranks share. The array can then be restored to another number of
 * ranks, and is one array on disk. `data` holds the elements of a box of `extents[0]` x ... x `extents[axes - 1]`, the
 * last axis fastest. The first element has the index `offset` in an array of the extents `whole`. `element` is
 * "float32" or "float64"; "int8", "int16", "int32" or "int64", or the same with "uint"; or, for other elements,
 * "bytes24" with the size. `redundancy`: as in mend_protect_with, or NULL for that of the job. Local. */
int mend_protect_part(mend_session *session, const char *name, void *data, const char *element, int axes,
                      const size_t *whole, const size_t *offset, const size_t *extents, const char *redundancy);
/** Protects some elements of an array: the indices from begins[i] up to, but not including, ends[i], for each of
 * `ranges` ranges. `element_bytes`: the size of an element. `redundancy`: as in mend_protect_part. Local. */
int mend_protect_subset(mend_session *session, const char *name, void *data, size_t element_bytes, int ranges,
                        const size_t *begins, const size_t *ends, const char *redundancy);
/** Protects `count` elements that are the same on all ranks. They can be restored to any number of ranks. Local. */
int mend_protect_replicated(mend_session *session, const char *name, void *data, const char *element, size_t count,
                            const char *redundancy);
/** Replaces the memory that mend_protect or mend_protect_with has protected under `name`, with the same redundancy: the
 * next commit saves the new memory, and a restore fills it. For double buffers. Returns MEND_ERROR if nothing is
 * protected under this name, or if the size differs; as with mend_protect, a commit that follows fails if the program
 * does not look at that. Call it on every rank, at the same point of the program. Local. */
int mend_replace(mend_session *session, const char *name, void *data, size_t bytes);
/** The same for a part of an array. Its offset and extents may differ from those before. A replicated array is one part
 * with all elements. Local. */
int mend_replace_part(mend_session *session, const char *name, void *data, const char *element, int axes,
                      const size_t *whole, const size_t *offset, const size_t *extents);
/** Protects a file in memory. Call it before mend_restore. The file is written and read like a file, and committed and
 * restored like other data. If it is already protected, nothing changes. `redundancy`: as in mend_protect_part. Local.
 * */
int mend_protect_file(mend_session *session, const char *name, const char *redundancy);
/** Opens a file in memory as fopen does, with "r", "w" or "a", also with "+". Protects it first if it is not protected.
 * Close it with fclose; if it was opened for writing, before mend_commit. Returns NULL if the file cannot be opened, or
 * if it is opened for reading and was neither written nor restored; mend_error_text returns the reason. Local. */
FILE *mend_file_open(mend_session *session, const char *name, const char *mode);
/** Returns a path by which this process can open a file in memory, for libraries that take a file name. Protects the
 * file first if it is not protected. The path is valid until the body is left. Returns NULL on an error. Local. */
const char *mend_file_path(mend_session *session, const char *name);
/** Returns 1 if a file in memory was written or restored, otherwise 0. Protects the file first if it is not protected.
 * Local. */
int mend_file_exists(mend_session *session, const char *name);
/** Stores the size of a file in memory in bytes, without the data that is still in the buffer of a writer. Protects the
 * file first if it is not protected. Local. */
int mend_file_size(mend_session *session, const char *name, size_t *bytes);
/** Ends the protection of the data of this name. Local. */
int mend_unprotect(mend_session *session, const char *name);
/** Saves the protected data as a new version. `version`, if not NULL, gets its number. Collective. */
int mend_commit(mend_session *session, unsigned long *version);
/** Begins a commit. When it returns, the data may change again, but is not safe yet. mend_finish_commit waits until the
 * data is safe; so do the next commit, restore or mend_commit_due, and the end of the body. Collective. */
int mend_commit_async(mend_session *session);
/** Waits for the commit that mend_commit_async began. `version`, if not NULL, gets the newest version. Also waits for
 * the copies that a restore sends: after that, the data is as redundant as before the failure. Collective. */
int mend_finish_commit(mend_session *session, unsigned long *version);
/** Fills the protected data from the newest version. `version`, if not NULL, gets its number. If nothing was ever
 * committed, the number is 0, and the data is unchanged. Collective. */
int mend_restore(mend_session *session, unsigned long *version);
/** Restores one of the older versions that are kept (--mend-versions). Newer versions are forgotten. `version`: as in
 * mend_restore. Collective. */
int mend_restore_version(mend_session *session, unsigned long wanted, unsigned long *version);
/** Fills the protected data with the data that `rank` committed. Each rank may name another rank. `version`: as in
 * mend_restore. Collective. */
int mend_restore_from(mend_session *session, int rank, unsigned long *version);
/** Takes part in mend_restore of other ranks, and leaves this rank's data unchanged. It is meant for survivors that
 * recover in place. `version`: as in mend_restore. Collective together with mend_restore on the other ranks. */
int mend_restore_others(mend_session *session, unsigned long *version);
/** Waits until the versions that are being written to disk (--mend-disk) are complete. Collective. */
int mend_finish_disk(mend_session *session);
/** Returns where the last restore found its data: one of MEND_ORIGIN_... Local. */
int mend_restored_from(const mend_session *session);
/** Returns the newest version committed or restored; 0 before the first. Local. */
unsigned long mend_version(const mend_session *session);
/** Stores the newest versions in memory that this rank knows, at most `room` of them. Returns the number of all
 * versions. Local. */
int mend_versions_in_memory(const mend_session *session, unsigned long *versions, int room);
/** Stores the newest versions on disk, at most `room` of them. Returns the number of all versions. Local. */
int mend_versions_on_disk(const mend_session *session, unsigned long *versions, int room);
/** Stores the cost of commits and restores in this process so far. Local. */
void mend_statistics(const mend_session *session, mend_store_statistics *statistics);
/** Counts a step. Sets `*due` to 1 if the step should end with a commit, otherwise to 0; the same on every rank. Call
 * it once a step on every rank. In some steps it is collective over the ranks. */
int mend_commit_due(mend_session *session, int *due);
/** Returns 1 if the job was asked to leave (its time limit is near, SIGTERM, mend stop), otherwise 0. The result
 * changes only at a commit, so it changes at the same step on every rank. If it is 1, return MEND_SUCCESS from the body
 * on every rank: the job ends with exit code 4. Local. */
int mend_should_exit(mend_session *session);

/** Sets `*flag` to 1 if it is true on every rank, otherwise to 0. Collective. */
int mend_agree(mend_session *session, int *flag);
/** Returns MEND_FAILURE if a rank is known to have died. Local. */
int mend_check(mend_session *session);

/** Recovers in place. Collective over the ranks; ranks that return MEND_FAILURE from the body take part. */
int mend_repair(mend_session *session);
/** Registers `callback`, which is called at the end of each mend_repair, in the order of registration. It returns one
 * of the codes above. If the code is not MEND_SUCCESS, mend_repair returns it at once. */
int mend_on_repair(mend_session *session, int (*callback)(mend_session *session, void *data), void *data);
/** The work of a transaction. It returns MEND_SUCCESS when it is done. Any other of the codes above is what
 * mend_transaction returns; for a code of MPI, it returns MEND_FAILURE or MEND_ERROR. `*well` is 1 at the beginning;
 * the work sets it to 0 if its result must not be committed. */
typedef int (*mend_work)(mend_session *session, void *data, int *well);
/** Runs `work`, and commits the protected data if `work` returned MEND_SUCCESS and left `*well` at 1 on every rank.
 * Otherwise the data is as it was before. Sets `*committed` to 1 if the data was committed, otherwise to 0.
 * Collective. */
int mend_transaction(mend_session *session, mend_work work, void *data, int *committed);

/** Returns the number of recoveries so far, which is the same on all ranks. Local. */
int mend_recovery_count(const mend_session *session);
/** Stores the recovery with the number `index`; 0 is the oldest. Local. */
int mend_recovery_get(const mend_session *session, int index, mend_recovery *recovery);
/** Returns the `number`-th process, counted from 0, of those `dead` in that recovery; negative if there is none. Local.
 * */
int mend_recovery_dead(const mend_session *session, int index, int number);
/** Stores the `number`-th rank, counted from 0, of those `replaced` in that recovery, followed by those `given_up`;
 * `*newcomer` is -1 for the latter. Local. */
int mend_recovery_rank(const mend_session *session, int index, int number, int *rank, int *dead, int *newcomer);

/** Adds a number to the job's result file (mend run --result FILE), which `mend report` shows and compares. The fields
 * of rank 0 are written. Without a result file it does nothing. Local. */
int mend_report_number(mend_session *session, const char *name, double value);
/** Adds an integer to the job's result file, as mend_report_number does. Local. */
int mend_report_integer(mend_session *session, const char *name, long value);
/** Adds a text to the job's result file, as mend_report_number does. Local. */
int mend_report_text(mend_session *session, const char *name, const char *text);
/** Adds this rank's part of the answer to the hash in the result file. The hash covers the parts of all ranks in rank
 * order. Local. */
int mend_report_hash(mend_session *session, const void *part, size_t bytes);

/** Returns the error text of the last function that returned MEND_ERROR in this process; "" before the first error.
 * Local. */
const char *mend_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
