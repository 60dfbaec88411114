// runtime-news-do-not-wait
//
// The runtime's connections gather small messages (Nagle's algorithm; pmix_ptl_base_set_nonblocking in
// ptl_base_connect.c does not set TCP_NODELAY): a message waits for the acknowledgement of the one before it, which may
// take 40 ms when that one was the answer to a question. So the report of a death arrives 40 ms after it instead of 2,
// in a process that has just spoken to its daemon. Here rank 0 asks its daemon ten times for a name that nobody has
// published, kills another process at once, and waits for the report; the soonest of seven reports counts, as a busy
// machine makes some of them late. Open MPI 5.0.x (PMIx 5.0.x), 6.0.x and PMIx master (read, August 2026).
//
// processes: 8
// runs: 2
// limit: 20

#include "pmix_reproducer.h"

static void ask_daemon(void) {
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, "nothing");
  PMIx_Lookup(&data, 1, NULL, 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  listen_for_deaths();
  const uint32_t own = (uint32_t)getpid();
  pmix_value_t value;
  PMIX_VALUE_LOAD(&value, &own, PMIX_UINT32);
  PMIx_Put(PMIX_GLOBAL, "pid", &value);
  PMIx_Commit();
  fence(true);
  if (rank > 0) {
    pause_ms(30000);
    return 1;
  }
  double soonest = 1e9;
  for (int victim = 1; victim < 8; ++victim) {
    pmix_proc_t proc = myself();
    proc.rank = (pmix_rank_t)victim;
    pmix_value_t* pid;
    if (PMIx_Get(&proc, "pid", NULL, 0, &pid) != PMIX_SUCCESS) untestable("PMIx_Get has failed");
    pause_ms(300);
    for (int i = 0; i < 10; ++i) ask_daemon();
    const double begin = seconds();
    kill((pid_t)pid->data.uint32, SIGKILL);
    while (!told_of[victim]) pause_ms(1);
    const double late = 1e3 * (told_at[victim] - begin);
    if (late < soonest) soonest = late;
  }
  if (soonest > 25) defect("news of a death take %.0f ms (the soonest of seven)", soonest);
  sound();
}
