// early-deaths-are-noted
//
// If the runtime reports a death while MPI_Init has no communicator yet, no communicator records it, but it counts as
// recorded: a second report is ignored (ompi_errhandler_event_cb and ompi_errhandler_proc_failed_internal in
// errhandler.c). A later receive from any source waits for ever. Here rank 1 dies just before MPI_COMM_WORLD is made,
// and rank 0 receives the report there. Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 2
// runs: 2
// limit: 15
// options: --mca btl self,sm

#include "in_mpi_init.h"

static void before_communicators(int self) {
  if (self == 1) die();
  void (*progress)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "opal_progress");
  for (const double end = seconds() + 1; seconds() < end;) progress();
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int data, done = 0;
  MPI_Request request;
  MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
  for (const double end = seconds() + 3; seconds() < end && !done;)
    done = MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
  if (!done) defect("a receive from anybody does not know of a process that has died in MPI_Init");
  sound();
}
