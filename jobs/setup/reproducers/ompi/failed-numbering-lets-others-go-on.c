// failed-numbering-lets-others-go-on
//
// A process that makes a communicator holds a lock until the communicator has its number (ompi_comm_cid_lowest_id in
// comm_cid.c). If a death or a revocation interrupts that, ompi_comm_checkcid and ompi_comm_nextcid_check_flag return
// without releasing the lock: a call that makes another communicator waits for ever, unless its parent has a lower
// number. Here the duplicate of MPI_COMM_WORLD fails, and a communicator of the living processes is duplicated after
// it. Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 1
// limit: 15
// hangs: MPI_Comm_dup of a communicator of the living does not return after another one has failed

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm living, of_all, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 2 ? MPI_UNDEFINED : 0, rank, &living);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    pause_ms(500);  // the others are in MPI_Comm_dup
    die();
  }
  MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
  if (MPI_Comm_dup(MPI_COMM_WORLD, &of_all) == MPI_SUCCESS) untestable("a communicator was made with a dead process");
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  const int code = MPI_Comm_dup(living, &copy);
  if (code != MPI_SUCCESS) defect("MPI_Comm_dup of a communicator of the living has failed with %d", class_of(code));
  MPI_Barrier(copy);
  if (rank == 0) sound();
  progress_ms(5000);
}
