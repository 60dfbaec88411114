/* Each rank tells of the job, and which process it is. Processes die between MPI_Init and Fenix_Init:
 * early SPARES PROCESS,... */

#include <fenix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int number_of(int role) {
  int number = -1;
  Fenix_get_number_of_ranks_with_role(role, &number);
  return number;
}

/* Who the processes are that were to have ranks, as those that have them now. */
static int first_are_repaired(MPI_Comm comm, int spares) {
  int last = 0;
  int result = MPI_UNEQUAL;
  MPI_Group all, first, repaired, now;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_size(all, &last);
  int range[1][3] = {{0, last - spares - 1, 1}};
  MPI_Group_range_incl(all, 1, range, &first);
  MPI_Comm_group(comm, &now);
  if (Fenix_repair_group(first, &repaired) == FENIX_SUCCESS) MPI_Group_compare(repaired, now, &result);
  return result == MPI_IDENT;
}

int main(int argc, char** argv) {
  int role = -1;
  int error = -1;
  int process = 0;
  int rank = 0;
  int* failed = NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  for (char* at = argc > 2 ? argv[2] : argv[argc]; at != NULL && *at != '\0'; at += *at == ',') {
    if (strtol(at, &at, 10) == process) raise(SIGKILL);
  }
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, atoi(argv[1]), &error);
  MPI_Comm_rank(comm, &rank);
  int back = -1;
  Fenix_slot_to_rank(comm, Fenix_get_slot(), &back);
  printf("rank %d: process %d, slot %d, %s, %s, role %d, error %d, %d initial, %d missing, %d spare, %d failed\n", rank,
         process, Fenix_get_slot(), back == rank ? "which is its" : "which is not its",
         first_are_repaired(comm, atoi(argv[1])) ? "repaired" : "not repaired", role, error,
         number_of(FENIX_ROLE_INITIAL_RANK), number_of(FENIX_ROLE_MISSING_RANK), number_of(FENIX_ROLE_SPARE_RANK),
         Fenix_Process_fail_list(&failed));
  fflush(stdout);
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
