/* The same as failing_calls_subject.cpp, in C.
 *     PROGRAM PROCESS@STEP...      these processes die at these steps */

#include "bindings/c/mend.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { steps = 12, more_than_a_large_page = 300000 };

struct work {
  char** deaths;
  long step;
  long total;
  long* field;
};

/* The number of this process. A process that mend has started has it in MEND_PROCESS. */
static const char* own_number(void) {
  const char* number = getenv("MEND_PROCESS");
  return number != NULL ? number : getenv("PMIX_RANK");
}

static void die_if_told(const struct work* work) {
  char here[64];
  snprintf(here, sizeof here, "%s@%ld", own_number(), work->step);
  for (char** death = work->deaths; *death != NULL; ++death) {
    if (strcmp(*death, here) == 0) raise(SIGKILL);
  }
}

static int advance(mend_session* session, struct work* work) {
  int due = 0;
  long sum = 0;
  const long mine = work->step + mend_rank(session);
  die_if_told(work);
  if (MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, mend_comm(session)) != MPI_SUCCESS) return MEND_FAILURE;
  work->total += sum;
  work->field[work->step] = work->total;
  work->step += 1;
  const int status = mend_commit_due(session, &due);
  return status == MEND_SUCCESS && due ? mend_commit(session, NULL) : status;
}

static int say(const mend_session* session, const struct work* work) {
  char line[128];
  long all = 0;
  for (int i = 0; i < more_than_a_large_page; ++i) all += work->field[i];
  snprintf(line, sizeof line, "rank %d: total %ld and %ld\n", mend_rank(session), work->total, all);
  return write(STDOUT_FILENO, line, strlen(line)) > 0 ? MEND_SUCCESS : MEND_ERROR;
}

static int body(mend_session* session, void* data) {
  struct work* work = data;
  work->step = 0;
  work->total = 0;
  memset(work->field, 0, more_than_a_large_page * sizeof *work->field);
  int status = mend_protect(session, "step", &work->step, sizeof work->step);
  if (status == MEND_SUCCESS) status = mend_protect(session, "total", &work->total, sizeof work->total);
  if (status == MEND_SUCCESS) {
    status = mend_protect(session, "field", work->field, more_than_a_large_page * sizeof *work->field);
  }
  if (status == MEND_SUCCESS) status = mend_restore(session, NULL);
  while (status == MEND_SUCCESS && work->step < steps) status = advance(session, work);
  return status == MEND_SUCCESS ? say(session, work) : status;
}

int main(int argc, char** argv) {
  struct work work = {argv + 1, 0, 0, malloc(more_than_a_large_page * sizeof(long))};
  if (work.field == NULL) return 1;
  const int code = mend_run(argc, argv, body, &work);
  free(work.field);
  return code;
}
