// failed-steps-are-noticed
//
// A step in the making of a communicator may be a message between the leaders of two groups. ompi_comm_request_progress
// (comm_request.c) waits for REQUEST_COMPLETE only; but the death of the other side, or a revocation, ends a request
// only if ompi_request_is_failed is called, as all other waits do. So the wait for the step never ends. Here rank 0
// duplicates an intercommunicator, and the other side, rank 1, dies while rank 0 waits for its message. Open MPI 5.0.x,
// 6.0.x and main (read, August 2026).
//
// processes: 2
// runs: 1
// limit: 15
// hangs: MPI_Comm_dup of an intercommunicator does not end when the other side dies

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm inter, copy;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 7, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    pause_ms(500);
    die();
  }
  if (MPI_Comm_dup(inter, &copy) == MPI_SUCCESS) untestable("MPI_Comm_dup has succeeded with a dead process");
  sound();
}
