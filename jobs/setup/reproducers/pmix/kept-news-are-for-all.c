// kept-news-are-for-all
//
// The daemon keeps the report of a death for the processes of the job that are not listening yet. When another process
// of the job dies, pmix_server_purge_events (pmix_server.c) discards those reports, as if they were only for that
// process. A process that is still at the beginning of MPI_Init when others die never learns of some deaths, and waits
// for these processes for ever. Here ranks 1 and 2 die one after the other, and rank 0 begins to listen then.
// Open MPI 5.0.x (PMIx 5.0.x), 6.0.x and PMIx master (read, August 2026).
//
// processes: 3
// runs: 1
// limit: 15

#include "pmix_reproducer.h"

int main(void) {
  begin_pmix();
  fence(false);
  if (rank > 0) {
    pause_ms(300 * rank);
    die();
  }
  pause_ms(1500);
  listen_for_deaths();
  for (const double end = seconds() + 3; seconds() < end && !(told_of[1] && told_of[2]);) pause_ms(5);
  if (!told_of[1] || !told_of[2]) {
    defect("of two that have died, who listens later is told of %s", told_of[1]   ? "the first only"
                                                                     : told_of[2] ? "the second only"
                                                                                  : "none");
  }
  sound();
}
