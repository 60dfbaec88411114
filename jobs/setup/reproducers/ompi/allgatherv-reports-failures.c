// allgatherv-reports-failures
//
// MPI_Allgatherv's default algorithm for small data is a gather and a broadcast, and it ignores the error of the
// broadcast (ompi_coll_base_allgatherv_intra_basic_default in coll_base_allgatherv.c): if a revocation ends a process's
// broadcast, the process gets MPI_SUCCESS and no data. Here rank 2 is dead; rank 0 notices that in the gather, and
// revokes; rank 1 waits in the broadcast. Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 3
// limit: 20
// hangs: MPI_Allgatherv is not ended by a revocation
// options: --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allgatherv_algorithm 1

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  if (rank == 2) die();

  int mine = 100 + rank, all[3] = {-1, -1, -1};
  const int counts[3] = {1, 1, 1}, displacements[3] = {0, 1, 2};
  const int code = MPI_Allgatherv(&mine, 1, MPI_INT, all, counts, displacements, MPI_INT, comm);
  if (rank == 0) {
    MPIX_Comm_revoke(comm);
    progress_ms(15000);
    _exit(0);
  }
  if (code == MPI_SUCCESS && (all[0] != 100 || all[1] != 101))
    defect("MPI_Allgatherv has returned MPI_SUCCESS and [%d, %d, %d]", all[0], all[1], all[2]);
  sound();
}
