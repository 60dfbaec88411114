// errors-without-statuses-are-returned
//
// MPI_Waitall with MPI_STATUSES_IGNORE returns MPI_SUCCESS although a request has failed before it was called:
// ompi_request_default_wait_all (req_wait.c) checks the return code of freeing the request, and frees only requests
// without an error. The library's own collectives wait in this way too. Open MPI 5.0.10, 6.0.x and main (August 2026);
// Open MPI 5.0.9 does not have it.
//
// processes: 2
// runs: 3
// limit: 20

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int received = -1;
  MPI_Request request;
  if (rank == 0) MPI_Irecv(&received, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) die();
  wait_for_deaths(1);
  const int code = MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  if (code == MPI_SUCCESS) defect("a receive from a process that has died ends with MPI_SUCCESS");
  sound();
}
