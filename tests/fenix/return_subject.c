/* A program for Fenix that stays where it is: after a failure its MPI call returns an error, on a communicator that has
 * been repaired meanwhile. Built as C++, it catches an exception instead. */

#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "die.h"

enum { steps = 20, my_group = 3, progress_id = 1 };

static long progress[2]; /* step, total */
static int callbacks = 0;
static MPI_Comm comm = MPI_COMM_NULL;
static int role = 0;
static int error = 0;
static int rank = 0;

static void count_callback(MPI_Comm repaired, int code, void* data) {
  (void)data;
  if (repaired == comm && code != MPI_SUCCESS) ++callbacks;
}

/* 0 when this was done; anything else: there was a failure. */
static int restore(void) {
  int flag = 0;
  MPI_Comm_rank(comm, &rank);
  const int created = Fenix_Data_group_create(my_group, comm, 100, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, NULL, &flag);
  if (created != FENIX_SUCCESS) return created;
  die_at("restoring", progress[0], rank);
  return Fenix_Data_member_restore(my_group, progress_id, progress, 2, FENIX_DATA_SNAPSHOT_LATEST, NULL);
}

static int begin(void) {
  int flag = 0;
  Fenix_Data_group_create(my_group, comm, 100, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, NULL, &flag);
  Fenix_Data_member_create(my_group, progress_id, progress, 2, MPI_LONG);
  Fenix_Data_member_store(my_group, progress_id, FENIX_DATA_SUBSET_FULL);
  return Fenix_Data_commit(my_group, NULL);
}

static int step(void) {
  long mine = progress[0] + rank;
  long sum = 0;
  int stamp = 0;
  die_at("computing", progress[0], rank);
  const int code = MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
  if (code != MPI_SUCCESS) return code;
  progress[0] += 1;
  progress[1] += sum;
  const int stored = Fenix_Data_member_store(my_group, progress_id, FENIX_DATA_SUBSET_FULL);
  if (stored != FENIX_SUCCESS) return stored;
  die_at("stored", progress[0], rank);
  const int committed = Fenix_Data_commit(my_group, &stamp);
  if (committed == FENIX_SUCCESS && stamp != 100 + progress[0]) abort();
  return committed;
}

static int run(int fresh) {
  int code = fresh ? begin() : restore();
  while (code == 0 && progress[0] < steps) code = step();
  if (code != 0) return code;
  die_at("finishing", progress[0], rank);
  return Fenix_Finalize();
}

#ifdef __cplusplus
static int run_and_catch(int fresh) {
  try {
    return run(fresh);
  } catch (const fenix::CommException& failure) {
    return failure.repaired_comm == comm ? failure.mpi_err : -1000;
  }
}
#else
static int run_and_catch(int fresh) { return run(fresh); }
#endif

int main(int argc, char** argv) {
  const int spares = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Info info = MPI_INFO_NULL;
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Info_create(&info);
#ifdef __cplusplus
  MPI_Info_set(info, "FENIX_RESUME_MODE", "THROW");
#else
  MPI_Info_set(info, "FENIX_RESUME_MODE", "NO_JUMP");
#endif
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, 0, info, &error);
  MPI_Info_free(&info);
  MPI_Comm_rank(comm, &rank);
  Fenix_Callback_register(count_callback, NULL);

  int code = run_and_catch(role == FENIX_ROLE_INITIAL_RANK);
  while (code != FENIX_SUCCESS) code = run_and_catch(0);
  printf("rank %d: total %ld, role %d, %d callbacks, error %d\n", rank, progress[1], role, callbacks, error);
  MPI_Finalize();
  return 0;
}
