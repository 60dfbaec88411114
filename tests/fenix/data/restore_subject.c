/* Programs for Fenix 1.0 that restore as its users do: with time stamps that are no snapshot's, into members that the
 * recovered rank has created itself, and after stores that were not committed. The first argument says which, the
 * second how many spares there are. */

#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../die.h"

enum { group = 0, out_id = 777, factor_id = 778, in_id = 779, count = 300, factors = 4, cells = 100 };

static int rank = 0;
static int ranks = 0;

static void create_group(MPI_Comm comm) {
  int error = 0;
  int policy[] = {1, ranks / 2};
  Fenix_Data_group_create(group, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, policy, &error);
}

static void store_and_commit_ring(void) {
  int stamp = 0;
  Fenix_Data_member_store(group, in_id, FENIX_DATA_SUBSET_FULL);
  Fenix_Data_member_store(group, out_id, FENIX_DATA_SUBSET_FULL);
  Fenix_Data_member_store(group, factor_id, FENIX_DATA_SUBSET_FULL);
  Fenix_Data_commit(group, &stamp);
}

/* A message goes round twice and grows by one at each rank but 0. After a failure all ranks restore, at time stamps
 * that the program has guessed: 2 was never committed, 1 may be the newest. */
static void pass_round(MPI_Comm comm, int role) {
  int in[count];
  int out[count];
  double factor[factors];
  int flag = 0;
  create_group(comm);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    for (int i = 0; i < count; ++i) {
      in[i] = -1;
      out[i] = i == 0 ? rank + 1 : 2 * rank;
    }
    for (int i = 0; i < factors; ++i) factor[i] = i / 3.0;
    Fenix_Data_member_create(group, out_id, out, count, MPI_INT);
    Fenix_Data_member_create(group, factor_id, factor, factors, MPI_DOUBLE);
    Fenix_Data_member_create(group, in_id, in, count, MPI_INT);
    store_and_commit_ring();
  } else {
    Fenix_Data_member_restore(group, out_id, out, count, 2, NULL);
    Fenix_Data_member_restore(group, factor_id, factor, factors, 1, NULL);
    Fenix_Data_member_restore(group, in_id, in, count, 1, NULL);
    Fenix_Data_member_attr_set(group, out_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, out, &flag);
    Fenix_Data_member_attr_set(group, factor_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, factor, &flag);
    Fenix_Data_member_attr_set(group, in_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, in, &flag);
  }
  store_and_commit_ring();
  if (role == FENIX_ROLE_INITIAL_RANK) die_at("committed", 0, rank);

  for (int round = 0; round < 2; ++round) {
    if (rank == 0) {
      MPI_Send(out, count, MPI_INT, 1, 1, comm);
      MPI_Recv(in, count, MPI_INT, ranks - 1, 1, comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, count, MPI_INT, rank - 1, 1, comm, MPI_STATUS_IGNORE);
      out[0] = in[0] + 1;
      MPI_Send(out, count, MPI_INT, (rank + 1) % ranks, 1, comm);
    }
  }
  int sum = 0;
  MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, comm);
  store_and_commit_ring();
  printf("rank %d: role %d, sum %d\n", rank, role, sum);
}

/* All cells are stored once, and a part of them again. After a failure all ranks restore the latest of each. */
static void store_a_part(MPI_Comm comm, int role, int latest) {
  int cell[cells];
  int flag = 0;
  const int goes_on = role != FENIX_ROLE_INITIAL_RANK;
  Fenix_Data_subset part;
  Fenix_Data_subset_create(10, 0, 2, 5, &part);
  create_group(comm);
  if (!goes_on) {
    for (int i = 0; i < cells; ++i) cell[i] = -1;
    Fenix_Data_member_create(group, out_id, cell, cells, MPI_INT);
    Fenix_Data_member_store(group, out_id, FENIX_DATA_SUBSET_FULL);
    Fenix_Data_commit_barrier(group, NULL);
    for (int i = 0; i < cells; ++i) cell[i] = i + 1;
    Fenix_Data_member_store(group, out_id, part);
    Fenix_Data_commit_barrier(group, NULL);
    MPI_Barrier(comm);
    die_at("committed", 0, rank);
  } else {
    Fenix_Data_member_restore(group, out_id, cell, cells, latest, NULL);
    Fenix_Data_member_attr_set(group, out_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, cell, &flag);
  }
  MPI_Barrier(comm);
  int right = 0;
  for (int i = 0; i < cells; ++i) right += cell[i] == (i < 50 && i % 5 <= 2 ? i + 1 : -1);
  Fenix_Data_subset_delete(&part);
  printf("rank %d: role %d, %d cells are right\n", rank, role, right);
}

/* The recovered rank creates its member as it did at the beginning, and then restores it. */
static void create_before_restoring(MPI_Comm comm, int role) {
  int cell[cells];
  int result = FENIX_SUCCESS;
  create_group(comm);
  for (int i = 0; i < cells; ++i) cell[i] = role == FENIX_ROLE_INITIAL_RANK ? 1000 * rank + i : -1;
  /* Of some programs, the numbers of members are hashes. Rank 0 has no elements. */
  const int hash = -620342612;
  const int own = rank == 0 ? 0 : 1;
  static int part = 0;
  Fenix_Data_subset found;
  part = role == FENIX_ROLE_INITIAL_RANK ? rank : -7;
  if (role != FENIX_ROLE_SURVIVOR_RANK) Fenix_Data_member_create(group, out_id, cell, cells, MPI_INT);
  if (role != FENIX_ROLE_SURVIVOR_RANK) Fenix_Data_member_create(group, hash, &part, own, MPI_INT);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    Fenix_Data_member_store(group, out_id, FENIX_DATA_SUBSET_FULL);
    if (Fenix_Data_member_store(group, hash, FENIX_DATA_SUBSET_FULL) != FENIX_SUCCESS) result = -1001;
    memset(&found, 1, sizeof found);
    Fenix_Data_member_restore(group, out_id, cell, cells, FENIX_DATA_SNAPSHOT_LATEST, &found);
    Fenix_Data_subset_delete(&found); /* nothing was found */
    Fenix_Data_commit(group, NULL);
    die_at("committed", 0, rank);
  } else {
    int written = 0;
    Fenix_Data_member_restore(group, out_id, NULL, 0, FENIX_DATA_SNAPSHOT_LATEST, NULL); /* asks, and copies nothing */
    for (int i = 0; i < cells; ++i) written += cell[i] != -1;
    result = Fenix_Data_member_restore(group, out_id, cell, cells, FENIX_DATA_SNAPSHOT_LATEST, NULL);
    if (written > 0) result = -written;
    /* Without a target, nothing is copied, into the member's own buffer neither. */
    if (Fenix_Data_member_restore(group, hash, NULL, 1, FENIX_DATA_SNAPSHOT_LATEST, NULL) != FENIX_SUCCESS ||
        part != -7)
      result = -1002;
    if (Fenix_Data_member_restore(group, hash, &part, own, FENIX_DATA_SNAPSHOT_LATEST, NULL) != FENIX_SUCCESS ||
        part != (own == 0 ? -7 : rank))
      result = -1003;
  }
  MPI_Barrier(comm);
  int right = 0;
  for (int i = 0; i < cells; ++i) right += cell[i] == 1000 * rank + i;
  printf("rank %d: role %d, %d cells are right, result %d\n", rank, role, right, result);
}

/* A restore drops what was stored of its member since the last commit. Another member keeps it. Of a third one, which
 * has no elements, none can be stored. */
static void restore_after_storing(MPI_Comm comm) {
  int values[2] = {1, 1};
  int none = 0;
  const int ids[2] = {out_id, in_id};
  Fenix_Data_subset first;
  create_group(comm);
  Fenix_Data_member_create(group, factor_id, &none, 0, MPI_INT);
  Fenix_Data_subset_create(1, 0, 0, 1, &first);
  const int code = Fenix_Data_member_store(group, factor_id, first);
  Fenix_Data_subset_delete(&first);
  for (int i = 0; i < 2; ++i) Fenix_Data_member_create(group, ids[i], &values[i], 1, MPI_INT);
  for (int i = 0; i < 2; ++i) Fenix_Data_member_store(group, ids[i], FENIX_DATA_SUBSET_FULL);
  Fenix_Data_commit(group, NULL);
  for (int i = 0; i < 2; ++i) {
    values[i] = 2;
    Fenix_Data_member_store(group, ids[i], FENIX_DATA_SUBSET_FULL);
  }
  Fenix_Data_member_restore(group, out_id, &values[0], 1, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  const int restored = values[0];
  Fenix_Data_commit(group, NULL);
  for (int i = 0; i < 2; ++i) {
    values[i] = -1;
    Fenix_Data_member_restore(group, ids[i], &values[i], 1, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  }
  printf("rank %d: restored %d, then %d and %d, %s\n", rank, restored, values[0], values[1],
         code == FENIX_ERROR_SUBSET_END_OFFSET ? "refused" : "not refused");
}

int main(int argc, char** argv) {
  int role = 0;
  int error = 0;
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  const char* which = argc > 1 ? argv[1] : "";
  const int spares = argc > 2 ? atoi(argv[2]) : 0;
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  Fenix_Init(&role, world, &comm, &argc, &argv, spares, 0, MPI_INFO_NULL, &error);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  if (strcmp(which, "ring") == 0) pass_round(comm, role);
  if (strcmp(which, "part") == 0) store_a_part(comm, role, FENIX_TIME_STAMP_MAX);
  if (strcmp(which, "unknown") == 0) store_a_part(comm, role, 4711);
  if (strcmp(which, "created") == 0) create_before_restoring(comm, role);
  if (strcmp(which, "stored") == 0) restore_after_storing(comm);
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
