/* Programs for Fenix that are wrong, each in the way that its first argument says. */

#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"

int main(int argc, char** argv) {
  int role = 0;
  int error = 0;
  int rank = 0;
  int value = 0;
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Comm comm = MPI_COMM_NULL;
  const char* mistake = argc > 1 ? argv[1] : "";
  const int spares = argc > 2 ? atoi(argv[2]) : 0;
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(mistake, "silent") == 0) Fenix_set_option(FENIX_UNHANDLED_MODE, FENIX_UNHANDLED_SILENT);
  if (strcmp(mistake, "part") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, rank, &all);
  if ((strcmp(mistake, "part") == 0 || strcmp(mistake, "not_all") == 0) && rank == 3) {
    MPI_Finalize();
    return 0;
  }
  Fenix_Init(&role, strcmp(mistake, "alone") == 0 ? MPI_COMM_SELF : all, &comm, &argc, &argv, spares,
             strncmp(mistake, "spawn", 5) == 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank);
  die_at("entered", 0, rank);

  if (strcmp(mistake, "silent") == 0 || (strcmp(mistake, "no_such_rank") == 0 && rank == 1)) {
    const int code = MPI_Send(&value, 1, MPI_INT, 4711, 0, comm);
    if (code == MPI_SUCCESS) printf("rank %d: sent to nobody\n", rank);
  }
  if (strcmp(mistake, "spawn_for_the_dead") == 0 && rank == 2 && role == FENIX_ROLE_INITIAL_RANK) raise(SIGKILL);
  if (strcmp(mistake, "spawn_for_two_dead") == 0 && (rank == 1 || rank == 2) && role == FENIX_ROLE_INITIAL_RANK)
    raise(SIGKILL);
  if (strcmp(mistake, "exits") == 0 && rank == 2) exit(5);
  if (strcmp(mistake, "removes_itself") == 0 && rank == 2 && role == FENIX_ROLE_INITIAL_RANK) exit(0);
  if (strcmp(mistake, "commits_alone") == 0 && rank == 1) {
    Fenix_Data_group_create(1, comm, 0, 0, FENIX_DATA_POLICY_IMR, NULL, &error);
    if (Fenix_Data_commit(1, NULL) != FENIX_ERROR_INVALID_LOGIC_CALL) printf("rank %d: committed alone\n", rank);
  }
  if (strcmp(mistake, "commits_alone") != 0) MPI_Barrier(comm);
  if (strcmp(mistake, "spawn_for_two_dead") == 0) {
    int* failed = NULL;
    int recovered = 0;
    const int count = Fenix_Process_fail_list(&failed);
    Fenix_get_number_of_ranks_with_role(FENIX_ROLE_RECOVERED_RANK, &recovered);
    if (count == 2) printf("rank %d: %d and %d have failed, %d recovered\n", rank, failed[0], failed[1], recovered);
  }
  if (strcmp(mistake, "twice") == 0) {
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &error);
  }
  if (strcmp(mistake, "forgets_finalize") != 0) Fenix_Finalize();
  if (strcmp(mistake, "aborts_at_the_end") == 0 && rank == 1) abort();
  MPI_Finalize();
  if (strcmp(mistake, "removes_itself") == 0 || strcmp(mistake, "silent") == 0 || strcmp(mistake, "spawn") == 0 ||
      strcmp(mistake, "spawn_for_the_dead") == 0 || strcmp(mistake, "forgets_finalize") == 0) {
    printf("rank %d: role %d\n", rank, role);
  }
  return 0;
}
