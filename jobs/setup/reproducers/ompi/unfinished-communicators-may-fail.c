// unfinished-communicators-may-fail
//
// A death marks every communicator that has the dead process, and for an intercommunicator the one beneath it too, even
// if the message layer no longer knows this communicator: mca_pml_ob1_revoke_comm (pml_ob1_recvfrag.c) goes through
// c_pml_comm, which is NULL there, and the survivor crashes. MPI_Comm_free of an intercommunicator frees the
// communicator beneath it at once, and puts MPI_COMM_NULL in its place (ompi_comm_free in comm.c); the
// intercommunicator itself stays until its last request is complete. Here a receive is pending on it when the other
// side dies. Open MPI 5.0.x, 6.0.x and main, where an unguarded coll_revoke_local stands beside it (read, August 2026).
//
// processes: 2
// runs: 1
// limit: 15
// ends: the survivor has crashed

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm inter;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 7, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  int data;
  MPI_Request request;
  MPI_Irecv(&data, 1, MPI_INT, 0, 1, inter, &request);
  MPI_Comm_free(&inter);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) die();
  wait_for_deaths(1);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) defect("a receive from the dead has succeeded");
  sound();
}
