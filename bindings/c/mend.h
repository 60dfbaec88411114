/* mend for C (C99) and for whatever can call C; for Fortran there is mend.f90.
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
 * A process that dies shows as MEND_FAILURE from a function below, or as an error of an MPI call on mend_comm. Then
 * either return MEND_FAILURE from the body, which is entered again on every rank; or call mend_repair and go on. What
 * the functions do is said in full in session.hpp and store.hpp, under the same names.
 */

#ifndef MEND_H
#define MEND_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns. The numbers stay as they are. */
enum {
  MEND_SUCCESS = 0,
  MEND_FAILURE = 1, /**< a process died: return this from the body, or call mend_repair */
  MEND_END = 2,     /**< the job ends, and all know why: return this from the body */
  MEND_ERROR = 3    /**< mend_error_text says what is wrong: return this from the body to end the job with that */
};

/** How this process came into the present epoch. */
enum { MEND_ROLE_INITIAL = 0, MEND_ROLE_SURVIVOR = 1, MEND_ROLE_NEWCOMER = 2 };

/** Where restored data came from. */
enum { MEND_ORIGIN_NOWHERE = 0, MEND_ORIGIN_MEMORY = 1, MEND_ORIGIN_DISK = 2 };

typedef struct mend_session mend_session;

/** Bytes, and seconds summed over all. */
typedef struct {
  unsigned long commits, restores;
  unsigned long snapshot_bytes; /**< the newest snapshot of this rank */
  unsigned long changed_bytes;  /**< what of it the last commit had to copy and to send */
  unsigned long memory_bytes;   /**< all buffers of the store in this process */
  double commit_seconds, restore_seconds;
} mend_store_statistics;

/** One recovery, with times as this process saw them, in milliseconds. */
typedef struct {
  int epoch;    /**< that began with it */
  int rounds;   /**< more than one when somebody died during the recovery */
  int dead;     /**< how many processes died since the recovery before, spares too */
  int replaced; /**< how many ranks were taken over */
  int given_up; /**< how many ranks are no more */
  double interrupt_ms, agree_ms, rebuild_ms, restore_ms;
} mend_recovery;

/** A part of the program that a rank plays; returns MEND_SUCCESS when it is done. */
typedef int (*mend_body)(mend_session *session, void *data);

/** Runs `body` on every rank, and again after failures, as mend::run does. Takes the options --mend-... out of the
 * arguments it is given, not out of the caller's. Returns the exit code for main. Collective over all processes. */
int mend_run(int argc, char **argv, mend_body body, void *data);

/** Valid until the body returns or mend_repair is called. MPI's errors on it are returned. */
MPI_Comm mend_comm(const mend_session *session);
/** The same, as Fortran has it: an integer. */
MPI_Fint mend_comm_fortran(const mend_session *session);
int mend_rank(const mend_session *session);
int mend_size(const mend_session *session);
/** After a rank was given up. Where those above it close up (--mend-on-failure=shrink), mend_rank and mend_size are those of
 * mend_comm. Where they keep their numbers (blank), mend_rank is what it was at the start, and so is mend_size: the ranks
 * given up leave holes. Returns the rank in mend_comm of the one with this number: MPI_PROC_NULL for a hole, and for a rank
 * that there is not. Local. */
int mend_rank_in_comm(const mend_session *session, int rank);
/** What the rank with this number was numbered at the start; MPI_PROC_NULL for a rank that there is not. Local. */
int mend_origin(const mend_session *session, int rank);
/** How many recoveries there have been. */
int mend_epoch(const mend_session *session);
int mend_role(const mend_session *session);
/** How many processes have played this rank before this one. */
int mend_predecessors(const mend_session *session);

/** Communicators that are interrupted when a process fails, and freed when the body is left or repaired. Collective. */
int mend_comm_dup(mend_session *session, MPI_Comm *made);
int mend_comm_split(mend_session *session, int color, int key, MPI_Comm *made);
/** A Cartesian topology of `axes` axes; ranks keep their numbers. */
int mend_comm_cart(mend_session *session, int axes, const int *dims, const int *periods, MPI_Comm *made);
/** Any other: `factory` makes it of `parent`, and returns what MPI has. */
int mend_comm_derive(mend_session *session, int (*factory)(MPI_Comm parent, MPI_Comm *made, void *data), void *data, MPI_Comm *made);

/** Protects `bytes` bytes at `data`, which must outlive the body. Local. */
int mend_protect(mend_session *session, const char *name, void *data, size_t bytes);
/** The same, with a redundancy of its own instead of --mend-redundancy: "local", "partner", "replicas:2", "xor:4",
 * "rs:4+2". */
int mend_protect_with(mend_session *session, const char *name, void *data, size_t bytes, const char *redundancy);
/** Protects this rank's part of an array that all ranks share, so that it can be given to another number of ranks, and is
 * one array on disk: `data` are the elements of a box of `extents[0]` x ... x `extents[axes - 1]`, the last axis fastest,
 * whose first element has the index `offset` in an array of `whole`. `element` is "float32" or "float64"; "int8", "int16",
 * "int32" or "int64", and the same with "uint"; or "bytes24", say, for what is no number. `redundancy` as above, or NULL for
 * that of the job. Local. */
int mend_protect_part(mend_session *session, const char *name, void *data, const char *element, int axes, const size_t *whole,
                      const size_t *offset, const size_t *extents, const char *redundancy);
/** Protects `count` elements that are the same on all ranks, and are given to as many as there are. Local. */
int mend_protect_replicated(mend_session *session, const char *name, void *data, const char *element, size_t count,
                            const char *redundancy);
/** Protects the datum of this name no more. Local. */
int mend_unprotect(mend_session *session, const char *name);
/** Collective. `version`, if not NULL, gets the version committed. */
int mend_commit(mend_session *session, unsigned long *version);
/** Begins a commit: when it returns, the data may change again, but are not safe yet. mend_finish_commit waits until they
 * are; and so do the next commit, restore or mend_commit_due, and the end of the body. Collective. */
int mend_commit_async(mend_session *session);
/** Collective; without a commit under way it does nothing. `version`, if not NULL, gets the newest version. */
int mend_finish_commit(mend_session *session, unsigned long *version);
/** Collective. `version`, if not NULL, gets the version restored; 0 if nothing was ever committed. */
int mend_restore(mend_session *session, unsigned long *version);
/** Goes back to an older version, of the last few that are kept (--mend-versions); the newer ones are forgotten. Collective.
 * `version` as there. */
int mend_restore_version(mend_session *session, unsigned long wanted, unsigned long *version);
/** Fills this rank's members with what `rank` has committed; each rank may name another. Collective. `version` as there. */
int mend_restore_from(mend_session *session, int rank, unsigned long *version);
/** Collective together with mend_restore on other ranks, whose data it brings back; this rank's members keep what they
    hold. For survivors that recover in place. `version` as there. */
int mend_restore_others(mend_session *session, unsigned long *version);
/** Waits until what is being written to disk (--mend-disk) is complete. Collective. */
int mend_finish_disk(mend_session *session);
/** Where the last restore found what it has restored: one of MEND_ORIGIN_... Local. */
int mend_restored_from(const mend_session *session);
/** The newest versions that are kept in memory, as far as this rank knows, or on disk: as many as there is `room` for.
 * Returns how many there are. Local. */
int mend_versions_in_memory(const mend_session *session, unsigned long *versions, int room);
int mend_versions_on_disk(const mend_session *session, unsigned long *versions, int room);
/** What commits and restores have cost this process so far. Local. */
void mend_statistics(const mend_session *session, mend_store_statistics *statistics);
/** Once a step on every rank: `*due` tells whether to commit at its end. */
int mend_commit_due(mend_session *session, int *due);

/** Replaces *flag by whether it is true on every rank. Collective. */
int mend_agree(mend_session *session, int *flag);
/** MEND_FAILURE when a rank is known to have died. Local. */
int mend_check(mend_session *session);

/** Recovers in place. Collective over the ranks; those that return from the body with MEND_FAILURE take part. */
int mend_repair(mend_session *session);
/** Has `callback` called at the end of each mend_repair, in the order of these calls; it returns one of the codes
 * above, and anything but MEND_SUCCESS is what mend_repair returns at once. */
int mend_on_repair(mend_session *session, int (*callback)(mend_session *session, void *data), void *data);
/** A piece of work: returns MEND_SUCCESS when it was done, whatever came of it, and sets `*well` to 0 if that is no good here;
 * `*well` is 1 before. Anything else it returns is what mend_transaction returns. */
typedef int (*mend_work)(mend_session *session, void *data, int *well);
/** Does `work`. `*committed` tells whether it went well everywhere, and is committed; otherwise everything protected is as it
 * was. Collective. */
int mend_transaction(mend_session *session, mend_work work, void *data, int *committed);

/** How many recoveries there have been so far; the same on all ranks. Local. */
int mend_recovery_count(const mend_session *session);
/** Recovery `index`, from 0, the oldest. Local. */
int mend_recovery_get(const mend_session *session, int index, mend_recovery *recovery);
/** Which process died as `number`-th, from 0, of those `dead` in that recovery; a negative number when there is none. Local. */
int mend_recovery_dead(const mend_session *session, int index, int number);
/** Whose rank was taken over as `number`-th of those `replaced`, and then of those `given_up`, whose newcomer is -1. Local. */
int mend_recovery_rank(const mend_session *session, int index, int number, int *rank, int *dead, int *newcomer);

/** Add a field to the job's result file (mend run --result FILE), which `mend report` tells and compares; those of rank 0 are
 * written. Without such a file they do nothing. Local. */
int mend_report_number(mend_session *session, const char *name, double value);
int mend_report_text(mend_session *session, const char *name, const char *text);
/** Adds this rank's part of the answer to the hash in that file, which has the parts of all ranks in rank order. Local. */
int mend_report_hash(mend_session *session, const void *part, size_t bytes);

/** What was wrong when a function last returned MEND_ERROR in this process; "" before. */
const char *mend_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
