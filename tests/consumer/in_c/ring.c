/* A program for Fenix: passes a number round a ring, to which each rank adds one. When a rank is killed, it continues
 * from the last lap that all ranks have committed. */

#include <fenix.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { laps = 50, group = 1, state_id = 7 };

static long state[2]; /* laps, number */

static void one_lap(MPI_Comm comm, int rank, int size) {
  if (rank == 0) {
    MPI_Send(&state[1], 1, MPI_LONG, 1, 0, comm);
    MPI_Recv(&state[1], 1, MPI_LONG, size - 1, 0, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&state[1], 1, MPI_LONG, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    state[1] += 1;
    MPI_Send(&state[1], 1, MPI_LONG, (rank + 1) % size, 0, comm);
  }
  state[0] += 1;
}

int main(int argc, char** argv) {
  int role = 0;
  int error = 0;
  int rank = 0;
  int size = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  const int kill_one = argc > 1 && strcmp(argv[1], "kill") == 0;

  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Fenix_Data_group_create(group, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, NULL, &error);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    Fenix_Data_member_create(group, state_id, state, 2, MPI_LONG);
  } else if (Fenix_Data_member_restore(group, state_id, state, 2, FENIX_DATA_SNAPSHOT_LATEST, NULL) != FENIX_SUCCESS) {
    return 1;
  }
  while (state[0] < laps) {
    if (kill_one && role == FENIX_ROLE_INITIAL_RANK && rank == 1 && state[0] == laps / 2) kill(getpid(), SIGKILL);
    one_lap(comm, rank, size);
    Fenix_Data_member_store(group, state_id, FENIX_DATA_SUBSET_FULL);
    Fenix_Data_commit(group, NULL);
  }
  if (rank == 0) printf("role %d, number %ld\n", role, state[1]);
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
