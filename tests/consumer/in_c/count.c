/* Adds up the steps of all ranks; `count kill` loses rank 1 at step 5. */

#include <mend.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

static int body(mend_session* session, void* data) {
  const int kill_one = *(const int*)data;
  long state[2] = {0, 0}; /* steps, total */
  mend_protect(session, "state", state, sizeof state);
  int status = mend_restore(session, NULL);
  while (status == MEND_SUCCESS && state[0] < 10) {
    const long mine = state[0] + mend_rank(session);
    long sum = 0;
    if (kill_one && mend_epoch(session) == 0 && mend_rank(session) == 1 && state[0] == 5) raise(SIGKILL);
    if (MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, mend_comm(session)) != MPI_SUCCESS) return MEND_FAILURE;
    state[1] += sum;
    state[0] += 1;
    status = mend_commit(session, NULL);
  }
  if (status == MEND_SUCCESS && mend_rank(session) == 0) printf("epoch %d, total %ld\n", mend_epoch(session), state[1]);
  return status;
}

int main(int argc, char** argv) {
  int kill_one = argc > 1 && strcmp(argv[1], "kill") == 0;
  return mend_run(argc, argv, body, &kill_one);
}
