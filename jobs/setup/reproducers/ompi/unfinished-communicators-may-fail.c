// unfinished-communicators-may-fail
//
// A death marks every communicator that has the dead process, and for an intercommunicator the one beneath it too, even
// if the message layer does not know this communicator yet, or no longer knows it: mca_pml_ob1_revoke_comm
// (pml_ob1_recvfrag.c) goes through c_pml_comm, which is NULL there, and the survivor crashes. Seen once in 590 jobs,
// when rank 0 died while a newcomer was merged. Here rank 1 dies, and rank 0 receives the report, when a communicator
// has its number and is not activated: this program puts its own ompi_comm_activate before the library's. That does not
// show the defect: 5.0.7 does not mark a communicator of MPI_Comm_split at that place. Open MPI 5.0.x, 6.0.x and main,
// where an unguarded coll_revoke_local stands beside it (read, August 2026).
//
// processes: 2
// runs: 2
// limit: 15
// never shown: on 5.0.7 without the correction either: it does not mark a communicator at that place
// ends: the survivor has crashed

#define _GNU_SOURCE
#include "reproducer.h"
#include <dlfcn.h>

static bool is_time = false, was_called = false;

// Takes the place of the library's function of that name: same arguments, passed on unread.
int ompi_comm_activate(void* a, void* b, void* c, const void* d, const void* e, bool f, int g) {
  if (is_time && rank == 1) die();
  if (is_time) progress_ms(1000);
  was_called |= is_time;
  int (*next)(void*, void*, void*, const void*, const void*, bool, int) = dlsym(RTLD_NEXT, "ompi_comm_activate");
  return next(a, b, c, d, e, f, g);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm side, copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &side);
  MPI_Comm_set_errhandler(side, MPI_ERRORS_RETURN);
  is_time = true;
  MPI_Comm_split(side, 0, rank, &copy);
  if (!was_called) untestable("ompi_comm_activate was not called");
  sound();
}
