/* A program for Fenix as most are: it jumps back to Fenix_Init after a failure, and restores what it has committed.
 * Says what came out: the sum of all ranks' contributions over all steps, and of its field. */

#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "die.h"

enum { steps = 20, cells = 5000, my_group = 0, field_id = 777, progress_id = 778 };

static long field[cells];
static long progress[2]; /* step, total */
static int callbacks = 0;

static void count_callback(MPI_Comm repaired, int error, void* data) {
  int size = 0;
  MPI_Comm_size(repaired, &size);
  if (error != MPI_SUCCESS && data == &callbacks && size > 0) ++callbacks;
}

static void fill(int rank) {
  for (int i = 0; i < cells; ++i) field[i] = (long)rank * cells + i;
  progress[0] = 0;
  progress[1] = 0;
}

static void store(int rank) {
  Fenix_Data_member_store(my_group, field_id, FENIX_DATA_SUBSET_FULL);
  die_at("storing", progress[0], rank);
  Fenix_Data_member_store(my_group, progress_id, FENIX_DATA_SUBSET_FULL);
  die_at("stored", progress[0], rank);
}

int main(int argc, char** argv) {
  int role = 0;
  int error = 0;
  int flag = 0;
  int rank = 0;
  int size = 0;
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  const int spares = argc > 1 ? atoi(argv[1]) : 0;
  read_deaths(argc, argv);

  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  Fenix_Init(&role, world, &comm, &argc, &argv, spares, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  die_at("entered", progress[0], rank);

  Fenix_Data_group_create(my_group, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, (int[]){1, size / 2}, &flag);
  die_at("created", progress[0], rank);
  if (role != FENIX_ROLE_SURVIVOR_RANK) Fenix_Callback_register(count_callback, &callbacks);
  // A survivor has not come so far if a rank died before that.
  if (role != FENIX_ROLE_SURVIVOR_RANK || !Fenix_Data_member_created(my_group, progress_id)) {
    Fenix_Data_member_create(my_group, field_id, field, cells, MPI_LONG);
    Fenix_Data_member_create(my_group, progress_id, progress, 2, MPI_LONG);
  }
  int restored = FENIX_ERROR_NODATA_FOUND;
  if (role != FENIX_ROLE_INITIAL_RANK) {
    restored = Fenix_Data_member_restore(my_group, field_id, field, cells, FENIX_DATA_SNAPSHOT_LATEST, NULL);
    die_at("restoring", progress[0], rank);
    if (Fenix_Data_member_restore(my_group, progress_id, progress, 2, FENIX_DATA_SNAPSHOT_LATEST, NULL) != restored) {
      return 1;
    }
  }
  if (restored == FENIX_ERROR_NODATA_FOUND) {
    fill(rank);
    store(rank);
    Fenix_Data_commit_barrier(my_group, NULL);
  }

  while (progress[0] < steps) {
    long mine = progress[0] + rank;
    long sum = 0;
    die_at("computing", progress[0], rank);
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    for (int i = 0; i < cells; ++i) field[i] += sum;
    progress[0] += 1;
    progress[1] += sum;
    store(rank);
    Fenix_Data_commit(my_group, NULL);
    die_at("committed", progress[0], rank);
  }

  long field_sum = 0;
  for (int i = 0; i < cells; ++i) field_sum += field[i];
  die_at("finishing", progress[0], rank);
  Fenix_Finalize();
  printf("rank %d: total %ld, field %ld, role %d, %d callbacks, error %d\n", rank, progress[1], field_sum, role,
         callbacks, error);
  MPI_Finalize();
  return 0;
}
