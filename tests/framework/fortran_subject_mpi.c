/* What the Fortran subject asks of MPI. */

#include <mpi.h>

int sum_over(MPI_Comm comm, double mine, double *sum);

int sum_over(MPI_Comm comm, double mine, double *sum) {
  return MPI_Allreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS ? 0 : 1;
}
