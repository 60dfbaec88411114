// runtime-news-do-not-wait
//
// The runtime's connections gather small messages (Nagle's algorithm), and a message is sent in two pieces: after a
// time without messages, the second piece waits for the acknowledgement of the first, which may take 40 ms
// (pmix_ptl_base_set_nonblocking in ptl_base_connect.c does not set TCP_NODELAY). The report of a death arrives 30 to
// 45 ms after it instead of 2. Here rank 0 kills seven others, one after the other, and takes the median.
// Open MPI 5.0.x (PMIx 5.0.x), 6.0.x and PMIx master (read, August 2026).
//
// processes: 8
// runs: 1
// limit: 20
// never shown: on 5.0.7 without the correction either: 1 to 20 ms, median 1.3

#include "pmix_reproducer.h"

static int by_size(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
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
  double late[7];
  for (int victim = 1; victim < 8; ++victim) {
    pmix_proc_t proc = myself();
    proc.rank = (pmix_rank_t)victim;
    pmix_value_t* pid;
    if (PMIx_Get(&proc, "pid", NULL, 0, &pid) != PMIX_SUCCESS) untestable("PMIx_Get has failed");
    pause_ms(700);
    const double begin = seconds();
    kill((pid_t)pid->data.uint32, SIGKILL);
    while (!told_of[victim]) pause_ms(1);
    late[victim - 1] = 1e3 * (told_at[victim] - begin);
  }
  qsort(late, 7, sizeof(double), by_size);
  if (late[3] > 20) defect("news of a death take %.0f ms (median of seven)", late[3]);
  sound();
}
