/* A C program that uses mend: counts, as the C++ subject does, and dies where it is told to. Its first argument says
 * how it lives on: "again" enters the body again, "in_place" repairs and goes on. */

#include "framework/mend.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { steps = 10 };

struct count {
  int in_place;
  int repairs;
  int told;
  MPI_Comm comm;
  long total;
};

static int take_comm(mend_session *session, void *data) {
  struct count *count = data;
  return mend_comm_dup(session, &count->comm);
}

static int add_one_unless_rank_1(mend_session *session, void *data) {
  ((struct count *)data)->total += 1;
  return mend_rank(session) != 1;
}

static int one_step(mend_session *session, struct count *count, long *step) {
  int due = 0;
  long sum = 0;
  const long mine = *step + mend_rank(session);
  if (*step == 5 && mend_epoch(session) == 0 && mend_rank(session) == 1) kill(getpid(), SIGKILL);
  if (MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, count->comm) != MPI_SUCCESS) return MEND_FAILURE;
  count->total += sum;
  *step += 1;
  const int status = mend_commit_due(session, &due);
  return status == MEND_SUCCESS && due ? mend_commit(session, NULL) : status;
}

static int body(mend_session *session, void *data) {
  struct count *count = data;
  long step = 0;
  int flag = 1;
  int committed = 1;
  char line[128];
  count->total = 0;
  mend_protect(session, "step", &step, sizeof step);
  if (mend_protect_with(session, "total", &count->total, sizeof count->total, "replicas:2") != MEND_SUCCESS) return MEND_ERROR;
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
  if ((status = mend_agree(session, &flag)) != MEND_SUCCESS) return status;
  if ((status = mend_transaction(session, add_one_unless_rank_1, count, &committed)) != MEND_SUCCESS) return status;
  snprintf(line, sizeof line, "rank %d: total %ld after %ld steps in epoch %d, %d repairs, %s, %s\n", mend_rank(session),
           count->total, step, mend_epoch(session), count->repairs, flag ? "agreed" : "not agreed",
           committed ? "committed" : "taken back");
  return write(STDOUT_FILENO, line, strlen(line)) > 0 ? MEND_SUCCESS : MEND_ERROR;
}

static int wrong_body(mend_session *session, void *data) {
  (void)data;
  const int status = mend_protect(session, "", NULL, 0);
  if (strcmp(mend_error_text(), "a protected member needs a name") != 0) return MEND_SUCCESS;
  return status;
}

static int unknown_body(mend_session *session, void *data) {
  (void)data;
  return mend_protect_with(session, "total", NULL, 0, "mirror");
}

static int ending_body(mend_session *session, void *data) {
  (void)data;
  int flag = 1;
  return mend_rank(session) == 1 ? MEND_END : mend_agree(session, &flag);
}

static int nameless_body(mend_session *session, void *data) {
  (void)data;
  return mend_protect(session, NULL, &session, sizeof session);
}

int main(int argc, char **argv) {
  struct count count = {argc > 1 && strcmp(argv[1], "in_place") == 0, 0, 0, MPI_COMM_NULL, 0};
  if (argc > 1 && strcmp(argv[1], "wrong") == 0) return mend_run(argc, argv, wrong_body, NULL);
  if (argc > 1 && strcmp(argv[1], "unknown") == 0) return mend_run(argc, argv, unknown_body, NULL);
  if (argc > 1 && strcmp(argv[1], "ends") == 0) return mend_run(argc, argv, ending_body, NULL);
  if (argc > 1 && strcmp(argv[1], "nameless") == 0) return mend_run(argc, argv, nameless_body, NULL);
  return mend_run(argc, argv, body, &count);
}
