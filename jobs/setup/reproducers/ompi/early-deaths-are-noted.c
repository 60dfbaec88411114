// early-deaths-are-noted
//
// A death that the runtime tells of while MPI_Init has no communicator yet is noted in none, and counts as noted: told of
// again, it is passed over (ompi_errhandler_event_cb and ompi_errhandler_proc_failed_internal in errhandler.c). Who then
// waits for the dead process waits for ever. Here rank 1 dies just before MPI_COMM_WORLD is made, and rank 0 hears of it
// there: this program puts its own ompi_comm_init_mpi3 before the library's. Open MPI 5.0.x, 6.0.x and main (read, August
// 2026).
//
// processes: 2
// runs: 2
// limit: 15
// hangs: a receive from a process that has died in MPI_Init does not end
// options: --mca btl self,sm

#define _GNU_SOURCE
#include "reproducer.h"
#include <dlfcn.h>

// Takes the place of the library's function of that name.
int ompi_comm_init_mpi3(void) {
  if (myself().rank == 1) die();
  void (*progress)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "opal_progress");
  for (const double end = seconds() + 1; seconds() < end;) progress();
  int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "ompi_comm_init_mpi3");
  return next();
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int data;
  if (MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    untestable("ompi_comm_init_mpi3 was not called");
  sound();
}
