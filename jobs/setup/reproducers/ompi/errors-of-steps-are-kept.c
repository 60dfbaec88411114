// errors-of-steps-are-kept
//
// The making of a communicator is a chain of steps. ompi_comm_request_progress (comm_request.c) notes what a step has
// failed with, and overwrites it with MPI_SUCCESS when the last step of the chain has nothing of its own to report: an
// allreduce that a death has broken counts as done, with any value as its result, and the search for a number that all can
// use goes on for ever. Here rank 1 dies while the side of ranks 0 and 1 duplicates an intercommunicator with rank 2.
// Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 1
// limit: 15
// hangs: MPI_Comm_dup of an intercommunicator goes on for ever after a member of the own side has died

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm side, inter, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 7, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    pause_ms(500);
    die();
  }
  const int code = MPI_Comm_dup(inter, &copy);
  if (code == MPI_SUCCESS) defect("MPI_Comm_dup has succeeded with a dead process");
  MPIX_Comm_revoke(inter);
  if (rank == 0) sound();
  progress_ms(10000);
}
