// revocation-reaches-both-sides
//
// Operations on an intercommunicator use a communicator that each side has of its own beneath. ompi_comm_revoke_local
// (comm_ft_revoke.c) does not revoke that: who waits there for a member that has left would wait for ever. With pml ob1
// in Open MPI 5.0.7 this does not come about: its mca_pml_ob1_revoke_comm revokes the side's communicator itself, and
// whoever comes after it, mend's correction too, finds that done ("already revoked"). Here ranks 0 and 2 are in
// MPI_Allreduce, and wait for ranks 1 and 3 of their sides, which revoke instead. 5.0.10 (a53275df37), 6.0.x and main
// (b67d42a9f2) have a correction of their own.
//
// processes: 4
// runs: 1
// limit: 15
// never shown: on 5.0.7 without the correction either: ob1 does what the correction does
// hangs: a collective operation on an intercommunicator is not ended by its revocation

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm side, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 7, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 || rank == 3) {
    progress_ms(500);
    MPIX_Comm_revoke(inter);
    progress_ms(10000);
    _exit(0);
  }
  int mine = 1, sum = 0;
  if (MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS)
    defect("MPI_Allreduce has succeeded without two of its members");
  if (rank == 0) sound();
  progress_ms(5000);
}
