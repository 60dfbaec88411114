// errors-of-steps-are-kept
//
// The making of a communicator is a chain of steps. ompi_comm_request_progress (comm_request.c) records the error of a
// step, and overwrites it with MPI_SUCCESS if the last step of the chain has no error of its own: an allreduce that a
// death has interrupted counts as done, with an arbitrary result, and the search for a number that all can use never
// ends. Here rank 0 duplicates an intercommunicator whose other side, rank 1, it knows to be dead: the receive from it
// fails, and the broadcast on the own side after that succeeds. MPI_Comm_dup would refuse the communicator at once;
// MPI_Comm_idup does not ask. Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 2
// runs: 1
// limit: 15
// hangs: MPI_Comm_idup of an intercommunicator goes on for ever when the other side is known to be dead

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm inter, copy;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 7, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) die();
  wait_for_deaths(1);
  MPI_Request request;
  if (MPI_Comm_idup(inter, &copy, &request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    defect("MPI_Comm_idup has succeeded with a dead process");
  sound();
}
