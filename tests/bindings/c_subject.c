/* A C program that uses mend: counts, as the C++ subject does, and dies where it is told to. Its first argument is the
 * way it survives: "again" enters the body again, "in_place" repairs and goes on, "async" does not wait for its
 * commits; "file" has its state in a file in memory; "double_buffer" replaces what it protects; "older" goes back to a
 * version and takes over a neighbour's; "parts" goes on with fewer ranks, and "numbers" reports their numbers; "leaves"
 * and "leaves_unasked" run until they are asked to leave. */

#include "bindings/c/mend.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { steps = 10 };

struct count {
  int in_place;
  int async;
  int repairs;
  int told;
  MPI_Comm comm;
  long total;
};

static int take_comm(mend_session* session, void* data) {
  struct count* count = data;
  return mend_comm_dup(session, &count->comm);
}

static int add_one_unless_rank_1(mend_session* session, void* data, int* well) {
  ((struct count*)data)->total += 1;
  if (mend_rank(session) == 1) *well = 0;
  return MEND_SUCCESS;
}

static int fail_to_work(mend_session* session, void* data, int* well) {
  (void)well;
  return mend_protect(session, "", data, 0);
}

static int wrong_work_body(mend_session* session, void* data) {
  int committed = 0;
  return mend_transaction(session, fail_to_work, data, &committed);
}

static int one_step(mend_session* session, struct count* count, long* step) {
  int due = 0;
  long sum = 0;
  const long mine = *step + mend_rank(session);
  if (*step == 5 && mend_epoch(session) == 0 && mend_rank(session) == 1) kill(getpid(), SIGKILL);
  if (MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, count->comm) != MPI_SUCCESS) return MEND_FAILURE;
  count->total += sum;
  *step += 1;
  const int status = mend_commit_due(session, &due);
  if (status != MEND_SUCCESS || !due) return status;
  return count->async ? mend_commit_async(session) : mend_commit(session, NULL);
}

static int say(mend_session* session, const char* text) {
  char line[160];
  snprintf(line, sizeof line, "rank %d: %s\n", mend_rank(session), text);
  return write(STDOUT_FILENO, line, strlen(line)) > 0 ? MEND_SUCCESS : MEND_ERROR;
}

static int async_body(mend_session* session, void* data) {
  struct count* count = data;
  long step = 0;
  unsigned long restored = 0;
  unsigned long version = 0;
  char text[128];
  count->total = 0;
  mend_protect(session, "step", &step, sizeof step);
  mend_protect(session, "total", &count->total, sizeof count->total);
  int status = take_comm(session, count);
  if (status == MEND_SUCCESS) status = mend_restore(session, &restored);
  while (status == MEND_SUCCESS && step < steps) status = one_step(session, count, &step);
  if (status == MEND_SUCCESS) status = mend_finish_commit(session, &version);
  if (status == MEND_SUCCESS) status = mend_report_number(session, "steps", (double)step);
  if (status == MEND_SUCCESS) status = mend_report_text(session, "language", "C");
  if (status == MEND_SUCCESS) status = mend_report_hash(session, &count->total, sizeof count->total);
  if (status != MEND_SUCCESS) return status;
  snprintf(text, sizeof text, "total %ld after %ld steps in epoch %d, from version %lu to %lu", count->total, step,
           mend_epoch(session), restored, version);
  return say(session, text);
}

/* Begins a partitioned send, which local rollback does not cover. */
static int uncovered_body(mend_session* session, void* data) {
  MPI_Request request = MPI_REQUEST_NULL;
  int number = 0;
  (void)data;
  if (mend_restore(session, NULL) != MEND_SUCCESS) return MEND_ERROR;
  const int code = MPI_Psend_init(&number, 1, 1, MPI_INT, 0, 0, mend_comm(session), MPI_INFO_NULL, &request);
  return code == MPI_SUCCESS ? MEND_SUCCESS : MEND_FAILURE;
}

/* Rank 1 sends its process number, which is a different one after it goes back. */
static int unlike_body(mend_session* session, void* data) {
  long sum = 0;
  long step = 0;
  char text[64];
  (void)data;
  mend_protect(session, "step", &step, sizeof step);
  mend_protect(session, "sum", &sum, sizeof sum);
  int status = mend_restore(session, NULL);
  for (; status == MEND_SUCCESS && step < 4; ++step) {
    long mine = getpid();
    if (MPI_Bcast(&mine, 1, MPI_LONG, 1, mend_comm(session)) != MPI_SUCCESS) return MEND_FAILURE;
    sum += mine;
    /* The others have received something before it dies. */
    if (step == 2 && MPI_Barrier(mend_comm(session)) != MPI_SUCCESS) return MEND_FAILURE;
    if (step == 2 && mend_epoch(session) == 0 && mend_rank(session) == 1) kill(getpid(), SIGKILL);
  }
  if (status == MEND_SUCCESS) status = mend_commit(session, NULL);
  if (status != MEND_SUCCESS) return status;
  long highest = 0;
  if (MPI_Allreduce(&sum, &highest, 1, MPI_LONG, MPI_MAX, mend_comm(session)) != MPI_SUCCESS) return MEND_FAILURE;
  snprintf(text, sizeof text, "%s in epoch %d", sum == highest ? "alike" : "unlike", mend_epoch(session));
  return say(session, text);
}

/* Returns the code of the MPI call that fails. If `data` is not NULL, rank 1 does so without a death. */
static int code_body(mend_session* session, void* data) {
  int value = 0;
  if (mend_epoch(session) == 0 && mend_rank(session) == 1) {
    if (data != NULL) return MPI_Send(&value, 1, MPI_INT, 4711, 0, mend_comm(session));
    kill(getpid(), SIGKILL);
  }
  const int code = MPI_Barrier(mend_comm(session));
  return code == MPI_SUCCESS ? say(session, "done") : code;
}

/* Returns the code of a wait for several messages, which does not say what has failed. */
static int wait_body(mend_session* session, void* data) {
  (void)data;
  int values[2] = {0, 0};
  MPI_Request requests[2];
  const int rank = mend_rank(session);
  const int size = mend_size(session);
  if (mend_epoch(session) == 0 && rank == 1) kill(getpid(), SIGKILL);
  MPI_Irecv(&values[0], 1, MPI_INT, (rank + size - 1) % size, 0, mend_comm(session), &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 0, mend_comm(session), &requests[1]);
  const int code = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) return code;
  const int end = MPI_Barrier(mend_comm(session));
  return end == MPI_SUCCESS ? say(session, "done") : end;
}

/* Passes NULL for what is needed. */
static int null_body(mend_session* session, void* data) {
  const char* which = data;
  int committed = 0;
  if (strcmp(which, "due") == 0) return mend_commit_due(session, NULL);
  if (strcmp(which, "agree") == 0) return mend_agree(session, NULL);
  if (strcmp(which, "split") == 0) return mend_comm_split(session, 0, 0, NULL);
  if (strcmp(which, "derive") == 0) return mend_comm_derive(session, NULL, NULL, NULL);
  if (strcmp(which, "callback") == 0) return mend_on_repair(session, NULL, NULL);
  if (strcmp(which, "statistics") == 0) {
    mend_statistics(session, NULL);
    return MEND_SUCCESS;
  }
  return mend_transaction(session, NULL, NULL, &committed);
}

static int die_on_rank_1(mend_session* session) {
  if (mend_rank(session) == 1) kill(getpid(), SIGKILL);
  return MPI_Barrier(mend_comm(session)) == MPI_SUCCESS ? MEND_ERROR : MEND_FAILURE;
}

static int knows_what_has_been(mend_session* session) {
  mend_recovery recovery;
  mend_store_statistics statistics;
  int rank = -1, dead = -1, newcomer = -1;
  unsigned long versions[2] = {0, 0};
  mend_statistics(session, &statistics);
  return mend_role(session) == (mend_rank(session) == 1 ? MEND_ROLE_NEWCOMER : MEND_ROLE_SURVIVOR) &&
         mend_recovery_count(session) == 1 && mend_recovery_get(session, 0, &recovery) == MEND_SUCCESS &&
         recovery.epoch == 1 && recovery.dead == 1 && recovery.replaced == 1 && recovery.given_up == 0 &&
         recovery.rebuild_ms > 0 && mend_recovery_dead(session, 0, 0) == 1 && mend_recovery_dead(session, 0, 1) < 0 &&
         mend_recovery_rank(session, 0, 0, &rank, &dead, &newcomer) == MEND_SUCCESS && rank == 1 && dead == 1 &&
         newcomer == 4 && mend_recovery_rank(session, 0, 1, &rank, &dead, &newcomer) == MEND_ERROR &&
         mend_recovery_get(session, 1, &recovery) == MEND_ERROR && mend_restored_from(session) == MEND_ORIGIN_MEMORY &&
         statistics.restores == 2 && statistics.snapshot_bytes > 0 &&
         mend_versions_in_memory(session, versions, 2) == 1 && versions[0] == 1 &&
         mend_versions_on_disk(session, versions, 2) == 0;
}

static int older_body(mend_session* session, void* data) {
  long value = 0;
  unsigned long older = 0;
  unsigned long neighbours = 0;
  char text[128];
  (void)data;
  mend_protect(session, "value", &value, sizeof value);
  if (mend_epoch(session) == 0) {
    if (mend_role(session) != MEND_ROLE_INITIAL) return MEND_END;
    for (long version = 1; version <= 2; ++version) {
      value = 10 * version + mend_rank(session);
      const int status = mend_commit(session, NULL);
      if (status != MEND_SUCCESS) return status;
    }
    return die_on_rank_1(session);
  }
  int status = mend_restore_version(session, 1, &older);
  if (status != MEND_SUCCESS) return status;
  const long own = value;
  status = mend_restore_from(session, (mend_rank(session) + 1) % mend_size(session), &neighbours);
  if (status != MEND_SUCCESS) return status;
  if (!knows_what_has_been(session)) return mend_unprotect(session, "what is not there");
  if (mend_unprotect(session, "value") != MEND_SUCCESS || mend_finish_disk(session) != MEND_SUCCESS) return MEND_ERROR;
  snprintf(text, sizeof text, "%ld of version %lu, beside %ld of version %lu", own, older, value, neighbours);
  return say(session, text);
}

/* The first two and the last two of six values are protected. */
static int subset_body(mend_session* session, void* data) {
  double values[6];
  const size_t begins[] = {0, 4}, ends[] = {2, 6}, before_begins[] = {0, 0};
  char text[128];
  (void)data;
  for (int i = 0; i < 6; ++i) values[i] = 10 * mend_rank(session) + i;
  if (mend_protect_subset(session, "wrong", values, sizeof *values, 2, ends, before_begins, NULL) != MEND_ERROR)
    return MEND_END;
  if (strcmp(mend_error_text(), "a range of a protected subset ends before it begins") != 0) return MEND_END;
  int status = mend_protect_subset(session, "ends", values, sizeof *values, 2, begins, ends, "partner");
  if (status == MEND_SUCCESS) status = mend_commit(session, NULL);
  for (int i = 0; i < 6; ++i) values[i] = -1;
  if (status == MEND_SUCCESS) status = mend_restore(session, NULL);
  if (status != MEND_SUCCESS) return status;
  snprintf(text, sizeof text, "%g %g %g %g %g %g of version %lu in process %d", values[0], values[1], values[2],
           values[3], values[4], values[5], mend_version(session), mend_process(session));
  return say(session, text);
}

/* Two buffers take turns. Rank 1 dies when the second one is protected. */
static int double_buffer_body(mend_session* session, void* data) {
  double u[2][3];
  long count[2] = {0, 0}, step = 0;
  int now = 0;
  char text[128];
  const size_t rank = (size_t)mend_rank(session);
  const size_t whole[] = {3 * (size_t)mend_size(session)}, offset[] = {3 * rank}, extents[] = {3};
  (void)data;
  for (int i = 0; i < 3; ++i) u[0][i] = (double)rank;
  int status = mend_protect(session, "step", &step, sizeof step);
  if (status == MEND_SUCCESS) status = mend_protect_with(session, "count", &count[0], sizeof count[0], "replicas:2");
  if (status == MEND_SUCCESS)
    status = mend_protect_part(session, "u", u[0], "float64", 1, whole, offset, extents, NULL);
  if (mend_replace(session, "nothing", &step, sizeof step) != MEND_ERROR ||
      mend_replace(session, "step", &step, 1) != MEND_ERROR ||
      mend_replace_part(session, "u", u[1], "float32", 1, whole, offset, extents) != MEND_ERROR)
    return MEND_END;
  mend_error_text();
  if (mend_rollback(session) != MEND_ROLLBACK_ALL) return MEND_END;
  if (status == MEND_SUCCESS) status = mend_restore(session, NULL);
  while (status == MEND_SUCCESS && step < steps) {
    const int next = 1 - now;
    for (int i = 0; i < 3; ++i) {
      u[next][i] = u[now][i] + 1;
      u[now][i] = -1;
    }
    count[next] = count[now] + 2;
    count[now] = -1;
    now = next;
    step += 1;
    status = mend_replace(session, "count", &count[now], sizeof count[now]);
    if (status == MEND_SUCCESS) status = mend_replace_part(session, "u", u[now], "float64", 1, whole, offset, extents);
    if (status == MEND_SUCCESS && step == 6 && mend_epoch(session) == 0) return die_on_rank_1(session);
    if (status == MEND_SUCCESS) status = mend_commit(session, NULL);
  }
  if (status == MEND_SUCCESS) status = mend_report_integer(session, "steps", step);
  if (status != MEND_SUCCESS) return status;
  snprintf(text, sizeof text, "%g %g %g and %ld after %ld steps", u[now][0], u[now][1], u[now][2], count[now], step);
  return say(session, text);
}

/* The state is only in a restart file in memory. Rank 1 dies while all ranks are writing it. */
static int file_body(mend_session* session, void* data) {
  int step = 0;
  long total = 0;
  char text[128];
  (void)data;
  int status = mend_protect_file(session, "restart", "replicas:2");
  if (status == MEND_SUCCESS && mend_epoch(session) == 0) {
    if (mend_file_exists(session, "restart") || mend_file_open(session, "restart", "r") != NULL) return MEND_END;
    if (strcmp(mend_error_text(),
               "file 'restart' cannot be read: it was neither written nor restored; ask mend_file_exists before") != 0)
      return MEND_END;
    if (mend_file_open(session, "restart", "q") != NULL || mend_file_path(session, NULL) != NULL) return MEND_END;
  }
  if (status == MEND_SUCCESS) status = mend_restore(session, NULL);
  if (status == MEND_SUCCESS && mend_file_exists(session, "restart")) {
    FILE* file = fopen(mend_file_path(session, "restart"), "r");
    if (fscanf(file, "%d %ld", &step, &total) != 2) status = MEND_ERROR;
    fclose(file);
  }
  const int first = step;
  while (status == MEND_SUCCESS && step < steps) {
    total += 10 * step + mend_rank(session);
    FILE* file = mend_file_open(session, "restart", "w");
    fprintf(file, "%d ", ++step);
    if (step == 5 && mend_epoch(session) == 0) {
      fflush(file);
      return die_on_rank_1(session);
    }
    fprintf(file, "%ld", total);
    fclose(file);
    size_t bytes = 0;
    snprintf(text, sizeof text, "%d %ld", step, total);
    if (mend_file_size(session, "restart", &bytes) != MEND_SUCCESS || bytes != strlen(text)) return MEND_END;
    status = mend_commit(session, NULL);
  }
  if (status != MEND_SUCCESS) return status;
  snprintf(text, sizeof text, "total %ld after %d steps, of which %d are new", total, step, step - first);
  return say(session, text);
}

/* A table of which every rank has some whole columns. Neighbours in memory are not neighbours in the table. */
enum { rows = 4, columns = 12, part_steps = 6 };
static double table[rows * columns];
static int table_step;

static double at(int row, int column, int step) { return 100 * row + column + 1000 * step; }

static int parts_body(mend_session* session, void* data) {
  const size_t ranks = (size_t)mend_size(session);
  const size_t mine = columns / ranks;
  const size_t first = mine * (size_t)mend_rank(session);
  const size_t whole[] = {rows, columns}, offset[] = {0, first}, extents[] = {rows, mine};
  unsigned long version = 0;
  int wrong = 0;
  char text[128];
  (void)data;
  for (size_t i = 0; i < rows * mine; ++i) table[i] = at((int)(i / mine), (int)(first + i % mine), 0);
  table_step = 0;
  int status = mend_protect_part(session, "table", table, "float64", 2, whole, offset, extents, NULL);
  if (status == MEND_SUCCESS) status = mend_protect_replicated(session, "step", &table_step, "int32", 1, "replicas:2");
  if (status == MEND_SUCCESS) status = mend_restore(session, &version);
  while (status == MEND_SUCCESS && table_step < part_steps) {
    for (size_t i = 0; i < rows * mine; ++i) table[i] += 1000;
    ++table_step;
    status = mend_commit(session, NULL);
    if (status == MEND_SUCCESS && table_step == 3 && mend_epoch(session) == 0) return die_on_rank_1(session);
  }
  if (status != MEND_SUCCESS) return status;
  for (size_t i = 0; i < rows * mine; ++i)
    wrong += table[i] != at((int)(i / mine), (int)(first + i % mine), table_step);
  snprintf(text, sizeof text, "columns %zu to %zu after %d steps, from version %lu, %d wrong", first, first + mine,
           table_step, version, wrong);
  return say(session, text);
}

static int take_half(MPI_Comm parent, MPI_Comm* made, void* data) {
  int rank = 0;
  (void)data;
  MPI_Comm_rank(parent, &rank);
  return MPI_Comm_split(parent, rank % 2, 0, made);
}

static int numbers_body(mend_session* session, void* data) {
  const int dims[] = {3}, periods[] = {1};
  const int rank = mend_rank(session);
  int before = 0, after = 0, members = 0;
  MPI_Comm ring = MPI_COMM_NULL, half = MPI_COMM_NULL;
  char text[160];
  (void)data;
  if (mend_epoch(session) == 0) return die_on_rank_1(session);
  if (mend_original_size(session) != 4 || mend_rank_in_comm(session, 4) != MPI_PROC_NULL ||
      mend_origin(session, -1) != MPI_PROC_NULL || mend_origin(session, mend_size(session)) != MPI_PROC_NULL)
    return MEND_END;
  int status = mend_comm_cart(session, 1, dims, periods, &ring);
  if (status == MEND_SUCCESS) status = mend_comm_derive(session, take_half, NULL, &half);
  if (status != MEND_SUCCESS) return status;
  MPI_Cart_shift(ring, 0, 1, &before, &after);
  MPI_Comm_size(half, &members);
  snprintf(text, sizeof text, "%d in comm, was %d, %s rank 1, between %d and %d, half are %d, after %d",
           mend_rank_in_comm(session, mend_origin(session, rank)), mend_origin(session, rank),
           mend_rank_in_comm(session, 1) == MPI_PROC_NULL ? "no" : "a", before, after, members,
           mend_predecessors(session));
  return say(session, text);
}

static int no_axes_body(mend_session* session, void* data) {
  MPI_Comm ring = MPI_COMM_NULL;
  (void)data;
  return mend_comm_cart(session, 1, NULL, NULL, &ring);
}

static int makes_nothing(MPI_Comm parent, MPI_Comm* made, void* data) {
  (void)parent, (void)made, (void)data;
  return MPI_ERR_TOPOLOGY;
}

static int unmade_body(mend_session* session, void* data) {
  MPI_Comm none = MPI_COMM_NULL;
  return mend_comm_derive(session, makes_nothing, data, &none);
}

static int part_is_refused(mend_session* session, const char* element, size_t first, const char* why) {
  const size_t whole = 4, extent = 2;
  const int status = mend_protect_part(session, "table", table, element, 1, &whole, &first, &extent, NULL);
  return status == MEND_ERROR && strncmp(mend_error_text(), why, strlen(why)) == 0;
}

static int wrong_parts_body(mend_session* session, void* data) {
  (void)data;
  if (!part_is_refused(session, "double", 0, "'double' is not an element of an array: give float32"))
    return MEND_SUCCESS;
  if (!part_is_refused(session, "float63", 0, "'float63' is not an element")) return MEND_SUCCESS;
  if (!part_is_refused(session, NULL, 0, "the element of a protected member is NULL")) return MEND_SUCCESS;
  if (!part_is_refused(session, "bytes24", 3, "a part [2] at [3] is not part of an array [4]")) return MEND_SUCCESS;
  return mend_protect_part(session, "table", table, "int8", 1, NULL, NULL, NULL, NULL);
}

static int older_than_kept_body(mend_session* session, void* data) {
  long value = 0;
  (void)data;
  mend_protect(session, "value", &value, sizeof value);
  const int status = mend_commit(session, NULL);
  return status == MEND_SUCCESS ? mend_restore_version(session, 7, NULL) : status;
}

static int body(mend_session* session, void* data) {
  struct count* count = data;
  long step = 0;
  int flag = 1;
  int committed = 1;
  char text[128];
  count->total = 0;
  mend_protect(session, "step", &step, sizeof step);
  if (mend_protect_with(session, "total", &count->total, sizeof count->total, "replicas:2") != MEND_SUCCESS)
    return MEND_ERROR;
  int status = take_comm(session, count);
  if (status == MEND_SUCCESS) status = mend_restore(session, NULL);
  mend_on_repair(session, take_comm, count);
  while (step < steps) {
    if (status == MEND_SUCCESS) status = one_step(session, count, &step);
    if (status == MEND_FAILURE && count->in_place) {
      status = mend_repair(session);
      if (status == MEND_SUCCESS) status = mend_restore_others(session, NULL);
      count->repairs += status == MEND_SUCCESS;
    } else if (status != MEND_SUCCESS) {
      return status;
    }
  }
  int of_all_but_one = mend_rank(session) != 2;
  if ((status = mend_agree(session, &flag)) != MEND_SUCCESS) return status;
  if ((status = mend_agree(session, &of_all_but_one)) != MEND_SUCCESS) return status;
  if (of_all_but_one != (mend_size(session) < 3) || mend_check(session) != MEND_SUCCESS) return MEND_ERROR;
  if ((status = mend_transaction(session, add_one_unless_rank_1, count, &committed)) != MEND_SUCCESS) return status;
  snprintf(text, sizeof text, "total %ld after %ld steps in epoch %d, %d repairs, %s, %s", count->total, step,
           mend_epoch(session), count->repairs, flag ? "agreed" : "not agreed", committed ? "committed" : "taken back");
  return say(session, text);
}

static int wrong_body(mend_session* session, void* data) {
  (void)data;
  const int status = mend_protect(session, "", NULL, 0);
  if (strcmp(mend_error_text(), "a protected member needs a name") != 0) return MEND_SUCCESS;
  return status;
}

/* A program that ignores the results of functions. */
static int careless_body(mend_session* session, void* data) {
  static long total;
  const size_t whole = 4, offset = mend_rank(session), extent = 1;
  (void)data;
  mend_protect_part(session, "total", &total, "double", 1, &whole, &offset, &extent, NULL);
  mend_restore(session, NULL);
  mend_commit(session, NULL);
  return MEND_SUCCESS;
}

static int unknown_body(mend_session* session, void* data) {
  (void)data;
  return mend_protect_with(session, "total", NULL, 0, "mirror");
}

static int ending_body(mend_session* session, void* data) {
  (void)data;
  int flag = 1;
  return mend_rank(session) == 1 ? MEND_END : mend_agree(session, &flag);
}

static int nameless_body(mend_session* session, void* data) {
  (void)data;
  return mend_protect(session, NULL, &session, sizeof session);
}

/* Sends to a rank that does not exist. The program handles the error, ignores it, or uses MPI_ERRORS_RETURN. */
static int lost_message_body(mend_session* session, void* data) {
  const char* look = data;
  int value = 0;
  int error_class = MPI_SUCCESS;
  MPI_Comm comm = mend_comm(session);
  if (strcmp(look, "wants_codes") == 0) {
    const int status = mend_comm_dup(session, &comm);
    if (status != MEND_SUCCESS) return status;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  if (mend_rank(session) == 1) {
    const int code = MPI_Send(&value, 1, MPI_INT, 4711, 0, comm);
    if (strcmp(look, "looks_at_class") == 0) MPI_Error_class(code, &error_class);
    if (strcmp(look, "gives_up") == 0) return MEND_ERROR;
    if (code == MPI_SUCCESS) return say(session, "sent to nobody");
  }
  if (strcmp(look, "commits") == 0) return mend_commit(session, NULL);
  return MEND_SUCCESS;
}

/* Sends a negative number of values, and returns MPI's code, which is MEND_END too. */
static int negative_body(mend_session* session, void* data) {
  int value = 0;
  (void)data;
  return MPI_Send(&value, mend_rank(session) == 1 ? -1 : 0, MPI_INT, MPI_PROC_NULL, 0, mend_comm(session));
}

/* Gives up because of an MPI call, after an error of mend that it expects. */
static int older_error_body(mend_session* session, void* data) {
  int value = 0;
  (void)data;
  if (mend_file_open(session, "restart", "r") != NULL) return MEND_SUCCESS;
  if (mend_rank(session) != 1) return MEND_SUCCESS;
  return MPI_Send(&value, 1, MPI_INT, 4711, 0, mend_comm(session)) == MPI_SUCCESS ? MEND_SUCCESS : MEND_ERROR;
}

static int replace_wrongly(mend_session* session, void* data, int* well) {
  (void)well;
  mend_replace(session, "value", data, 1);
  return MEND_SUCCESS;
}

/* Does not look at what fails in a transaction. */
static int careless_work_body(mend_session* session, void* data) {
  long value = 0;
  int committed = 0;
  (void)data;
  const int status = mend_protect(session, "value", &value, sizeof value);
  return status == MEND_SUCCESS ? mend_transaction(session, replace_wrongly, &value, &committed) : status;
}

static int send_to_nobody(mend_session* session, void* data) {
  MPI_Send(data, 1, MPI_INT, 4711, 0, mend_comm(session));
  return MEND_SUCCESS;
}

/* Does not look at what fails in a callback. */
static int careless_callback_body(mend_session* session, void* data) {
  int value = 0;
  (void)data;
  int status = mend_on_repair(session, send_to_nobody, &value);
  if (status != MEND_SUCCESS) return status;
  if (mend_rank(session) == 1 && mend_epoch(session) == 0) kill(getpid(), SIGKILL);
  if (mend_epoch(session) == 0) status = MPI_Barrier(mend_comm(session));
  if (status != MEND_SUCCESS) status = mend_repair(session);
  return status == MEND_SUCCESS ? mend_commit(session, NULL) : status;
}

/* Runs until it is asked to leave. If `data` is not NULL, it calls mend_should_exit. */
static int leaving_body(mend_session* session, void* data) {
  long step = 0;
  int status = mend_protect(session, "step", &step, sizeof step);
  if (status == MEND_SUCCESS) status = mend_restore(session, NULL);
  while (status == MEND_SUCCESS && !(data != NULL && mend_should_exit(session))) {
    int due = 0;
    step += 1;
    status = mend_commit_due(session, &due);
    if (status == MEND_SUCCESS && due) status = mend_commit(session, NULL);
  }
  return status == MEND_SUCCESS ? say(session, "left") : status;
}

int main(int argc, char** argv) {
  struct count count = {
      argc > 1 && strcmp(argv[1], "in_place") == 0, argc > 1 && strcmp(argv[1], "async") == 0, 0, 0, MPI_COMM_NULL, 0};
  if (count.async) return mend_run(argc, argv, async_body, &count);
  if (argc > 1 && strcmp(argv[1], "partitioned") == 0) return mend_run(argc, argv, uncovered_body, NULL);
  if (argc > 1 && strcmp(argv[1], "unlike") == 0) return mend_run(argc, argv, unlike_body, NULL);
  if (argc > 1 && strcmp(argv[1], "returns_a_code") == 0) return mend_run(argc, argv, code_body, NULL);
  if (argc > 1 && strcmp(argv[1], "returns_code_of_wait") == 0) return mend_run(argc, argv, wait_body, NULL);
  if (argc > 1 && strcmp(argv[1], "returns_an_error") == 0) return mend_run(argc, argv, code_body, &count);
  if (argc > 2 && strcmp(argv[1], "null") == 0) return mend_run(argc, argv, null_body, argv[2]);
  if (argc > 1 && strcmp(argv[1], "negative") == 0) return mend_run(argc, argv, negative_body, NULL);
  if (argc > 1 && strcmp(argv[1], "older_error") == 0) return mend_run(argc, argv, older_error_body, NULL);
  if (argc > 1 && strcmp(argv[1], "careless_work") == 0) return mend_run(argc, argv, careless_work_body, NULL);
  if (argc > 1 && strcmp(argv[1], "careless_callback") == 0) return mend_run(argc, argv, careless_callback_body, NULL);
  if (argc > 1 && strcmp(argv[1], "older") == 0) return mend_run(argc, argv, older_body, NULL);
  if (argc > 1 && strcmp(argv[1], "parts") == 0) return mend_run(argc, argv, parts_body, NULL);
  if (argc > 1 && strcmp(argv[1], "numbers") == 0) return mend_run(argc, argv, numbers_body, NULL);
  if (argc > 1 && strcmp(argv[1], "subset") == 0) return mend_run(argc, argv, subset_body, NULL);
  if (argc > 1 && strcmp(argv[1], "file") == 0) return mend_run(argc, argv, file_body, NULL);
  if (argc > 1 && strcmp(argv[1], "double_buffer") == 0) return mend_run(argc, argv, double_buffer_body, NULL);
  if (argc > 1 && strcmp(argv[1], "refused") == 0) return mend_refuse("there is no input");
  if (argc > 1 && strcmp(argv[1], "no_axes") == 0) return mend_run(argc, argv, no_axes_body, NULL);
  if (argc > 1 && strcmp(argv[1], "unmade") == 0) return mend_run(argc, argv, unmade_body, NULL);
  if (argc > 1 && strcmp(argv[1], "wrong_parts") == 0) return mend_run(argc, argv, wrong_parts_body, NULL);
  if (argc > 1 && strcmp(argv[1], "older_than_kept") == 0) return mend_run(argc, argv, older_than_kept_body, NULL);
  if (argc > 1 && strcmp(argv[1], "wrong_work") == 0) return mend_run(argc, argv, wrong_work_body, NULL);
  if (argc > 1 && strcmp(argv[1], "wrong") == 0) return mend_run(argc, argv, wrong_body, NULL);
  if (argc > 1 && strcmp(argv[1], "careless") == 0) return mend_run(argc, argv, careless_body, NULL);
  if (argc > 2 && strcmp(argv[1], "lost_message") == 0) return mend_run(argc, argv, lost_message_body, argv[2]);
  if (argc > 1 && strcmp(argv[1], "bodiless") == 0) return mend_run(argc, argv, NULL, NULL);
  if (argc > 1 && strcmp(argv[1], "unknown") == 0) return mend_run(argc, argv, unknown_body, NULL);
  if (argc > 1 && strcmp(argv[1], "ends") == 0) return mend_run(argc, argv, ending_body, NULL);
  if (argc > 1 && strcmp(argv[1], "leaves") == 0) return mend_run(argc, argv, leaving_body, argv);
  if (argc > 1 && strcmp(argv[1], "leaves_unasked") == 0) return mend_run(argc, argv, leaving_body, NULL);
  if (argc > 1 && strcmp(argv[1], "nameless") == 0) return mend_run(argc, argv, nameless_body, NULL);
  return mend_run(argc, argv, body, &count);
}
