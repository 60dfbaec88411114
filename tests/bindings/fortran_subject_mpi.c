/* The MPI calls of the Fortran subject. */

#include <mpi.h>

int sum_over(MPI_Comm comm, double mine, double* sum);

int sum_of_ranks(MPI_Fint comm);

int sum_of_ranks(MPI_Fint comm) {
  int rank = 0, sum = -1;
  MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_Comm_f2c(comm));
  return sum;
}

int sum_over(MPI_Comm comm, double mine, double* sum) {
  return MPI_Allreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS ? 0 : 1;
}
