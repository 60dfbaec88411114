// copied-fragments-are-not-registered
//
// btl/uct registers the memory of all fragments of more than some 100 bytes (mca_btl_uct_add_procs, btl_uct_module.c).
// UCX's shared memory has no registration, so there are no such fragments. Messages of programs go another way; those
// of an agreement that tells of five failed processes do not, and the process crashes. Here five of eight processes
// die, and the others agree. Needs an Open MPI with UCX (1.13). Open MPI 5.0.x, 6.0.x and main (read, November 2026).
//
// needs: btl uct of UCX
// processes: 8
// runs: 3
// limit: 20
// hangs: an agreement that tells of five failed processes does not end
// options: --mca btl self,uct --mca btl_uct_memory_domains posix --mca btl_uct_transports posix

#include "reproducer.h"

int main(int argc, char** argv) {
  int value = 1, known = 0, found;
  MPI_Group failed;
  begin(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 2) die();
  crash_is_a_defect("a process that agrees on five failed ones crashes");
  while (known < 5) {
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed);
    MPI_Group_size(failed, &known);
    MPI_Group_free(&failed);
  }
  MPIX_Comm_agree(MPI_COMM_WORLD, &value);
  if (rank == 0) sound();
  pause_ms(10000);
}
