// nobody-waits-for-dead-clients
//
// The daemon may learn of a process's death from the kernel before the connection to it has dropped. Then remove_client
// (pmix_server.c) closes the connection without checking the collectives in which others wait for the dead process:
// they wait for ever. If two processes die in MPI_Init, this happens in one job of four. Here it happens every time: a
// child of the dead process holds the connection open. Open MPI 5.0.x (PMIx 5.0.x), 6.0.x and PMIx master (read, August
// 2026).
//
// processes: 3
// runs: 1
// limit: 10
// hangs: PMIx_Fence does not return after the death of one that has not come to it

#include "pmix_reproducer.h"

int main(void) {
  begin_pmix();
  fence(false);
  if (rank == 1) {
    pause_ms(500);
    die_before_connection();
  }
  fence(false);
  if (rank == 0) sound();
  pause_ms(2000);
}
