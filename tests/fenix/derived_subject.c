/* A program for Fenix with communicators of its own: two rows, what connects these, a grid of all, and a twin that is
 * made meanwhile. In each step rank 2 waits in its row for rank 3, which waits in the resilient communicator for rank
 * 1: when that dies, rank 2 must hear of it all the same. */

#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "die.h"

enum { steps = 20, my_group = 0, progress_id = 5 };

static long progress[2]; /* step, total */
static int role = FENIX_ROLE_INITIAL_RANK;
static long nobody_sends;
static MPI_Request pending = MPI_REQUEST_NULL;
static MPI_Comm row = MPI_COMM_NULL;
static MPI_Comm grid = MPI_COMM_NULL;
static MPI_Comm across = MPI_COMM_NULL; /* from row to row */
static MPI_Comm merged = MPI_COMM_NULL; /* of both, by way of that */
static MPI_Comm twin = MPI_COMM_NULL;   /* by MPI_Comm_idup */

/* Each rank by another call of MPI. */
static void complete(MPI_Request* request, int rank) {
  int done = 0;
  int index = 0;
  die_at("twin_comes", progress[0], rank);
  if (rank == 0) MPI_Wait(request, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
  if (rank == 2) MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
  while (rank == 3 && !done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void make_communicators(MPI_Comm comm, int rank, int size) {
  const int periodic = 1;
  MPI_Comm same = MPI_COMM_NULL;
  MPI_Request twin_is_made = MPI_REQUEST_NULL;
  if (row != MPI_COMM_NULL) {
    /* Of what is over: errors, and no second failure. */
    if (MPI_Barrier(row) == MPI_SUCCESS) abort();
    if (MPI_Wait(&pending, MPI_STATUS_IGNORE) == MPI_SUCCESS) abort();
    MPI_Comm_free(&row);
  }
  if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
  if (merged != MPI_COMM_NULL) MPI_Comm_free(&merged);
  if (across != MPI_COMM_NULL) MPI_Comm_free(&across);
  if (twin != MPI_COMM_NULL) MPI_Comm_free(&twin);
  MPI_Comm_idup(comm, &twin, &twin_is_made);
  MPI_Comm_dup(comm, &same);
  MPI_Comm_split(same, rank / 2, rank, &row);
  MPI_Irecv(&nobody_sends, 1, MPI_LONG, MPI_ANY_SOURCE, 98, row, &pending);
  MPI_Cart_create(comm, 1, &size, &periodic, 0, &grid);
  MPI_Intercomm_create(row, 0, comm, rank < 2 ? 2 : 0, 7, &across);
  MPI_Intercomm_merge(across, rank / 2, &merged);
  MPI_Comm_free(&same);
  complete(&twin_is_made, rank);
}

/* Each row for itself: the one that loses nobody must hear of the death in the other all the same. */
static void wait_in_row(int rank) {
  long nothing = 0;
  die_at("rows_wait", progress[0], rank);
  MPI_Recv(&nothing, 1, MPI_LONG, 1 - rank % 2, 99, row, MPI_STATUS_IGNORE);
}

/* All but rank 0, and for none but those. */
static void wait_for_others(const char* where, MPI_Comm in, int rank, int for_rank_1, int for_rank_3) {
  long nothing = 0;
  die_at(where, progress[0], rank);
  MPI_Recv(&nothing, 1, MPI_LONG, rank == 1 ? for_rank_3 : for_rank_1, 97, in, MPI_STATUS_IGNORE);
}

static void one_step(MPI_Comm comm, int rank) {
  long mine = progress[0] + rank;
  long passed = 0;
  long of_row = 0;
  long of_all = 0;
  if (role == FENIX_ROLE_INITIAL_RANK && progress[0] == 5 && strstr(deaths, "rows_wait:5") != NULL) wait_in_row(rank);
  if (role == FENIX_ROLE_INITIAL_RANK && progress[0] == 5 && strstr(deaths, "across_wait:5") != NULL)
    wait_for_others("across_wait", across, rank, 1, 1);
  if (role == FENIX_ROLE_INITIAL_RANK && progress[0] == 5 && strstr(deaths, "merged_wait:5") != NULL)
    wait_for_others("merged_wait", merged, rank, 1, 3);
  if (role == FENIX_ROLE_INITIAL_RANK && progress[0] == 5 && strstr(deaths, "twin_wait:5") != NULL)
    wait_for_others("twin_wait", twin, rank, 1, 3);
  die_at("before_sending", progress[0], rank);
  if (rank == 1) MPI_Send(&mine, 1, MPI_LONG, 3, 0, comm);
  if (rank == 3) {
    MPI_Recv(&passed, 1, MPI_LONG, 1, 0, comm, MPI_STATUS_IGNORE);
    MPI_Send(&passed, 1, MPI_LONG, 0, 0, row);
  }
  if (rank == 2) {
    MPI_Recv(&passed, 1, MPI_LONG, 1, 0, row, MPI_STATUS_IGNORE);
    if (passed != progress[0] + 1) abort();
  }
  die_at("before_row", progress[0], rank);
  MPI_Allreduce(&mine, &of_row, 1, MPI_LONG, MPI_SUM, row);
  die_at("before_grid", progress[0], rank);
  of_row = rank % 2 == 0 ? of_row : 0;
  MPI_Allreduce(&of_row, &of_all, 1, MPI_LONG, MPI_SUM, grid);
  progress[0] += 1;
  progress[1] += of_all;
}

int main(int argc, char** argv) {
  int error = 0;
  int flag = 0;
  int rank = 0;
  int size = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  const int spares = argc > 1 ? atoi(argv[1]) : 0;
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  make_communicators(comm, rank, size);
  Fenix_Data_group_create(my_group, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, NULL, &flag);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    Fenix_Data_member_create(my_group, progress_id, progress, 2, MPI_LONG);
    Fenix_Data_member_store(my_group, progress_id, FENIX_DATA_SUBSET_FULL);
    Fenix_Data_commit(my_group, NULL);
  } else {
    Fenix_Data_member_restore(my_group, progress_id, progress, 2, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  }
  while (progress[0] < steps) {
    one_step(comm, rank);
    Fenix_Data_member_store(my_group, progress_id, FENIX_DATA_SUBSET_FULL);
    Fenix_Data_commit(my_group, NULL);
  }
  MPI_Cancel(&pending);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  Fenix_Finalize();
  printf("rank %d: total %ld, role %d, error %d\n", rank, progress[1], role, error);
  MPI_Finalize();
  return 0;
}
