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
 *       return status;                                         // MEND_FAILURE: be entered again, on repaired ranks
 *     }
 *
 *     int main(int argc, char **argv) { return mend_run(argc, argv, body, NULL); }
 *
 * When a process dies, a function below returns MEND_FAILURE, or an MPI call on mend_comm returns an error. Then either
 * return MEND_FAILURE from the body, which is entered again on every rank; or call mend_repair and go on. session.hpp and
 * store.hpp say in full what the functions do. docs/api.md shows C, C++ and Fortran side by side.
 */

#ifndef MEND_H
#define MEND_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns. The numbers do not change between versions of mend. */
enum {
  MEND_SUCCESS = 0,
  MEND_FAILURE = 1, /**< a process died: return this from the body, or call mend_repair */
  MEND_END = 2,     /**< the job ends, and every rank knows why: return this from the body */
  MEND_ERROR = 3    /**< mend_error_text says what is wrong: return this from the body, and the job ends with that text */
};

/** How this process came into the present epoch. */
enum { MEND_ROLE_INITIAL = 0, MEND_ROLE_SURVIVOR = 1, MEND_ROLE_NEWCOMER = 2 };

/** Where restored data came from. */
enum { MEND_ORIGIN_NOWHERE = 0, MEND_ORIGIN_MEMORY = 1, MEND_ORIGIN_DISK = 2 };

typedef struct mend_session mend_session;

/** What commits and restores have cost this process so far. Times are sums. */
typedef struct {
  unsigned long commits, restores;
  unsigned long snapshot_bytes; /**< size of this rank's newest snapshot */
  unsigned long changed_bytes;  /**< how much of it the last commit copied and sent */
  unsigned long memory_bytes;   /**< all buffers of the store in this process */
  double commit_seconds, restore_seconds;
} mend_store_statistics;

/** One recovery, with times as this process saw them, in milliseconds. */
typedef struct {
  int epoch;    /**< that began with it */
  int rounds;   /**< more than one when a process died during the recovery */
  int dead;     /**< how many processes died since the recovery before, spares included */
  int replaced; /**< how many ranks were taken over */
  int given_up; /**< how many ranks were given up */
  double interrupt_ms, agree_ms, rebuild_ms, restore_ms;
} mend_recovery;

/** What every rank runs. Returns MEND_SUCCESS when it is done. */
typedef int (*mend_body)(mend_session *session, void *data);

/** Runs `body` on every rank, and again after failures, as mend::run does. It reads the options --mend-... from the arguments,
 * and leaves the caller's as they are. Returns the exit code for main. Collective over all processes. */
int mend_run(int argc, char **argv, mend_body body, void *data);
/** Ends a program that cannot start, because of its arguments or its input. Every process launched calls it instead of mend_run,
 * with the same sentence, which one of them writes on standard error. Returns the exit code for main. */
int mend_refuse(const char *sentence);

/** The application's communicator. It is valid until the body returns or mend_repair is called. MPI's errors on it are
 * returned. One that is no death must be looked at: return MEND_ERROR from the body, or call MPI_Error_class, MPI_Error_string or
 * mend_error_text and go on. Otherwise the next commit or restore, or the end of the body, ends the job. MPI_ERRORS_RETURN, set on
 * a communicator, leaves all of its errors to the program. Local. */
MPI_Comm mend_comm(const mend_session *session);
/** The application's communicator as Fortran has it: an integer. Local. */
MPI_Fint mend_comm_fortran(const mend_session *session);
/** This process's rank in mend_comm. Local. */
int mend_rank(const mend_session *session);
/** How many ranks mend_comm has. Local. */
int mend_size(const mend_session *session);
/** The number that a rank of mend_comm had at the start of the job. It differs after lower ranks were given up. Returns
 * MPI_PROC_NULL when mend_comm has no such rank. Local. */
int mend_origin(const mend_session *session, int rank);
/** How many ranks there were at the start of the job. Local. */
int mend_original_size(const mend_session *session);
/** The rank in mend_comm of the rank that had the number `origin` at the start. Returns MPI_PROC_NULL when that was given up,
 * and when there was no such rank. Local. */
int mend_rank_in_comm(const mend_session *session, int origin);
/** How many recoveries there have been. Local. */
int mend_epoch(const mend_session *session);
/** How this process came into the present epoch: one of MEND_ROLE_... Local. */
int mend_role(const mend_session *session);
/** The process that holds this rank. The number of a process is never used again. Local. */
int mend_process(const mend_session *session);
/** How many processes held this rank before this one. Local. */
int mend_predecessors(const mend_session *session);

/** Makes a duplicate of mend_comm. mend interrupts it when a process fails, and frees it when the body is left or repaired.
 * Collective. */
int mend_comm_dup(mend_session *session, MPI_Comm *made);
/** Makes a communicator of a part of the ranks, as mend_comm_dup. Collective. */
int mend_comm_split(mend_session *session, int color, int key, MPI_Comm *made);
/** Makes a Cartesian topology of `axes` axes, as mend_comm_dup. Ranks keep their numbers. Collective. */
int mend_comm_cart(mend_session *session, int axes, const int *dims, const int *periods, MPI_Comm *made);
/** Makes any other communicator, as mend_comm_dup: `factory` makes it of `parent`, and returns what MPI returned. Collective. */
int mend_comm_derive(mend_session *session, int (*factory)(MPI_Comm parent, MPI_Comm *made, void *data), void *data, MPI_Comm *made);

/** Protects `bytes` bytes at `data`, which must outlive the body; before mend_restore, which fills what is protected then.
 * A name stands for one piece of memory: to give it to another, as a double buffer does, call mend_unprotect first. Local. */
int mend_protect(mend_session *session, const char *name, void *data, size_t bytes);
/** Protects bytes with a redundancy of their own instead of --mend-redundancy: "local", "partner", "replicas:2", "xor:4",
 * "rs:4+2". Local. */
int mend_protect_with(mend_session *session, const char *name, void *data, size_t bytes, const char *redundancy);
/** Protects this rank's part of an array that all ranks share. The array can then be restored to another number of ranks, and is
 * one array on disk. `data` are the elements of a box of `extents[0]` x ... x `extents[axes - 1]`, the last axis fastest. The
 * first element has the index `offset` in an array of `whole`. `element` is "float32" or "float64"; "int8", "int16", "int32" or
 * "int64", or the same with "uint"; or, for what is no number, "bytes24" with the size. `redundancy`: as in mend_protect_with, or
 * NULL for that of the job. Local. */
int mend_protect_part(mend_session *session, const char *name, void *data, const char *element, int axes, const size_t *whole,
                      const size_t *offset, const size_t *extents, const char *redundancy);
/** Protects some elements of an array: those with the indices from begins[i] up to, but not including, ends[i], for each of
 * `ranges` ranges. `element_bytes`: the size of an element. `redundancy`: as in mend_protect_part. Local. */
int mend_protect_subset(mend_session *session, const char *name, void *data, size_t element_bytes, int ranges,
                        const size_t *begins, const size_t *ends, const char *redundancy);
/** Protects `count` elements that are the same on all ranks. They can be restored to any number of ranks. Local. */
int mend_protect_replicated(mend_session *session, const char *name, void *data, const char *element, size_t count,
                            const char *redundancy);
/** Protects a file in memory, before mend_restore: it is written and read like a file, committed and restored like any data. If
 * it is protected already, nothing changes. `redundancy`: as in mend_protect_part. Local. */
int mend_protect_file(mend_session *session, const char *name, const char *redundancy);
/** Opens a file in memory as fopen does, with "r", "w" or "a", also with "+"; protects it first if it is not. Close it by fclose,
 * before mend_commit if it was opened for writing. Returns NULL when it is to be read and was never written nor restored, and when
 * it cannot be opened; mend_error_text says which. Local. */
FILE *mend_file_open(mend_session *session, const char *name, const char *mode);
/** A path by which this process can open a file in memory, for libraries that want the name of a file; protects the file first if
 * it is not. The path is valid until the body is left. Returns NULL on an error. Local. */
const char *mend_file_path(mend_session *session, const char *name);
/** Whether a file in memory was written or restored: 1 or 0. Protects the file first if it is not. Local. */
int mend_file_exists(mend_session *session, const char *name);
/** Ends the protection of the data of this name. Local. */
int mend_unprotect(mend_session *session, const char *name);
/** Saves what is protected as a new version. `version`, if not NULL, gets its number. Collective. */
int mend_commit(mend_session *session, unsigned long *version);
/** Begins a commit. When it returns, the data may change again, but is not safe yet. mend_finish_commit waits until it is; so do
 * the next commit, restore or mend_commit_due, and the end of the body. Collective. */
int mend_commit_async(mend_session *session);
/** Waits for the commit that mend_commit_async began. `version`, if not NULL, gets the newest version. Collective. */
int mend_finish_commit(mend_session *session, unsigned long *version);
/** Fills what is protected from the newest version. `version`, if not NULL, gets its number; 0 if nothing was ever committed: then
 * the data stays as it is. Collective. */
int mend_restore(mend_session *session, unsigned long *version);
/** Goes back to an older version, of the last few that are kept (--mend-versions). Newer versions are forgotten. `version`: as in
 * mend_restore. Collective. */
int mend_restore_version(mend_session *session, unsigned long wanted, unsigned long *version);
/** Fills what is protected with what `rank` committed. Each rank may name another rank. `version`: as in mend_restore.
 * Collective. */
int mend_restore_from(mend_session *session, int rank, unsigned long *version);
/** Takes part in mend_restore of other ranks, and leaves this rank's data as it is. It is for survivors that recover in place.
 * `version`: as in mend_restore. Collective together with mend_restore on the other ranks. */
int mend_restore_others(mend_session *session, unsigned long *version);
/** Waits until the versions that are being written to disk (--mend-disk) are complete. Collective. */
int mend_finish_disk(mend_session *session);
/** Where the last restore found its data: one of MEND_ORIGIN_... Local. */
int mend_restored_from(const mend_session *session);
/** The newest version committed or restored; 0 before the first. Local. */
unsigned long mend_version(const mend_session *session);
/** Gives the newest versions in memory, as far as this rank knows: at most `room` of them. Returns how many there are. Local. */
int mend_versions_in_memory(const mend_session *session, unsigned long *versions, int room);
/** Gives the newest versions on disk: at most `room` of them. Returns how many there are. Local. */
int mend_versions_on_disk(const mend_session *session, unsigned long *versions, int room);
/** Gives what commits and restores have cost this process so far. Local. */
void mend_statistics(const mend_session *session, mend_store_statistics *statistics);
/** Counts a step. `*due` is set to whether to commit at its end, the same on every rank. Call it once a step on every rank. */
int mend_commit_due(mend_session *session, int *due);
/** Returns 1 if the job has been asked to leave (its time limit is near, SIGTERM, mend stop), otherwise 0. It changes at a commit,
 * so at the same step on every rank. Return MEND_SUCCESS from the body then, on every rank: the job ends with exit code 4. Local. */
int mend_should_exit(mend_session *session);

/** Sets *flag to whether it is true on every rank. Collective. */
int mend_agree(mend_session *session, int *flag);
/** Returns MEND_FAILURE when a rank is known to have died. Local. */
int mend_check(mend_session *session);

/** Recovers in place. Collective over the ranks; those that return MEND_FAILURE from the body take part. */
int mend_repair(mend_session *session);
/** Has `callback` called at the end of each mend_repair, in the order of registration. It returns one of the codes above;
 * mend_repair returns at once with any code but MEND_SUCCESS. */
int mend_on_repair(mend_session *session, int (*callback)(mend_session *session, void *data), void *data);
/** A piece of work. It returns MEND_SUCCESS when it was done. `*well` is 1 before; the work sets it to 0 if its result must not be
 * committed. mend_transaction returns any other code that the work returns. */
typedef int (*mend_work)(mend_session *session, void *data, int *well);
/** Does `work`, and commits what is protected if it went well on every rank. Otherwise what is protected is as it was before.
 * `*committed` is set to whether it was committed. Collective. */
int mend_transaction(mend_session *session, mend_work work, void *data, int *committed);

/** How many recoveries there have been, the same on all ranks. Local. */
int mend_recovery_count(const mend_session *session);
/** Gives recovery `index`; 0 is the oldest. Local. */
int mend_recovery_get(const mend_session *session, int index, mend_recovery *recovery);
/** The process that died as `number`-th, from 0, of those `dead` in that recovery; negative when there is none. Local. */
int mend_recovery_dead(const mend_session *session, int index, int number);
/** Gives the `number`-th rank, from 0, of those `replaced` in that recovery, followed by those `given_up`; `*newcomer` is -1 for
 * the latter. Local. */
int mend_recovery_rank(const mend_session *session, int index, int number, int *rank, int *dead, int *newcomer);

/** Adds a number to the job's result file (mend run --result FILE), which `mend report` shows and compares. The fields of rank 0
 * are written. Without a result file it does nothing. Local. */
int mend_report_number(mend_session *session, const char *name, double value);
/** Adds a text to the job's result file, as mend_report_number. Local. */
int mend_report_text(mend_session *session, const char *name, const char *text);
/** Adds this rank's part of the answer to the hash in the result file, which is over the parts of all ranks in rank order. Local. */
int mend_report_hash(mend_session *session, const void *part, size_t bytes);

/** What was wrong when a function last returned MEND_ERROR in this process; "" before. Local. */
const char *mend_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
