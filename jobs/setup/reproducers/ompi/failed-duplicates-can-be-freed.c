// failed-duplicates-can-be-freed
//
// MPI_Comm_idup gives its caller the new communicator before it is complete. When a death or a revocation interrupts
// its steps, ompi_comm_idup_getcid and ompi_comm_idup_with_info_activate (comm.c) release that communicator, so the
// caller has a handle to freed memory; and the former returns the request to the pool while it is still on the list of
// active ones. MPI_Comm_free of the handle crashes, or a later call does. Open MPI 5.0.x, 6.0.x and main (read,
// November 2026).
//
// processes: 3
// runs: 3
// limit: 50

#include "revoked_meanwhile.h"

static void crashed(int signal) {
  (void)signal;
  defect("the library crashes after MPI_Comm_idup was interrupted");
}

int main(int argc, char** argv) {
  begin_with_threads(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  signal(SIGSEGV, crashed);
  signal(SIGABRT, crashed);
  signal(SIGBUS, crashed);

  int interrupted = 0;
  for (int round = 0; round < 1000 && is_time_for(round); ++round) {
    MPI_Comm made;
    MPI_Request request;
    int delay = round % 200;
    pthread_t thread;
    make_parent(&thread, &delay);
    int code = MPI_Comm_idup(parent, &made, &request);
    const bool begun = code == MPI_SUCCESS;
    if (begun) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 2) pthread_join(thread, NULL);
    if (code != MPI_SUCCESS) ++interrupted;
    MPI_Barrier(MPI_COMM_WORLD);
    if (begun && made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Comm_free(&parent);
  }
  if (interrupted == 0) untestable("no duplicate was interrupted");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) sound();
  progress_ms(5000);
}
