/* Every function of Fenix on data and roles, on 4 ranks of which one is killed between two halves. Says on each rank
 * how many of its checks have failed, and which. */

#define FENIX_SNAPSHOTS_ACCUMULATE
#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../checks.h"
#include "../die.h"

enum { count = 100, group = 7, other_group = 8, array_id = 40, scalar_id = 41, growing_id = 42, late_id = 43 };

static int array[count];
static double scalar = 0;
static int growing[20];
static int late = 0;

static void check_subsets(void) {
  int starts[] = {3, 10};
  int ends[] = {3, 12};
  int wrong[] = {9, 12};
  Fenix_Data_subset subset;
  CHECK(Fenix_Data_subset_create(0, 0, 1, 1, &subset) == FENIX_ERROR_SUBSET_NUM_BLOCKS);
  CHECK(Fenix_Data_subset_create(1, -1, 1, 1, &subset) == FENIX_ERROR_SUBSET_START_OFFSET);
  CHECK(Fenix_Data_subset_create(1, 2, 1, 1, &subset) == FENIX_ERROR_SUBSET_END_OFFSET);
  CHECK(Fenix_Data_subset_create(2, 0, 1, 0, &subset) == FENIX_ERROR_SUBSET_STRIDE);
  CHECK(Fenix_Data_subset_createv(2, wrong, ends, &subset) == FENIX_ERROR_SUBSET_END_OFFSET);
  CHECK(Fenix_Data_subset_createv(2, starts, ends, &subset) == FENIX_SUCCESS);
  CHECK(Fenix_Data_subset_delete(&subset) == FENIX_SUCCESS);
}

static void check_refusals(MPI_Comm comm) {
  int flag = 0;
  int stamp = 0;
  int nine[] = {5, 1, 9};
  Fenix_Data_subset beyond;
  CHECK(Fenix_Data_commit(999, &stamp) == FENIX_ERROR_INVALID_GROUPID);
  CHECK(Fenix_Data_member_store(group, 999, FENIX_DATA_SUBSET_FULL) == FENIX_ERROR_INVALID_MEMBERID);
  CHECK(Fenix_Data_member_store(group, growing_id, FENIX_DATA_SUBSET_FULL) == FENIX_ERROR_INVALID_SUBSET);
  CHECK(Fenix_Data_group_create(99, MPI_COMM_SELF, 0, 0, FENIX_DATA_POLICY_IMR, NULL, &flag) ==
        FENIX_ERROR_GROUP_CREATE);
  CHECK(Fenix_Data_group_create(99, comm, 0, -1, FENIX_DATA_POLICY_IMR, NULL, &flag) == FENIX_ERROR_INVALID_DEPTH);
  CHECK(Fenix_Data_group_create(99, comm, 0, 0, 4711, NULL, &flag) == FENIX_ERROR_INVALID_POLICY_NAME);
  CHECK(Fenix_Data_group_create(99, comm, 0, 0, FENIX_DATA_POLICY_IMR, nine, &flag) ==
        FENIX_ERROR_INVALID_POLICY_VALUE);
  CHECK(!Fenix_Data_group_created(99));
  CHECK(Fenix_Data_member_create(group, array_id, array, count, MPI_DOUBLE) == FENIX_ERROR_MEMBER_EXISTS);
  Fenix_Data_subset_create(1, 0, count, 1, &beyond);
  CHECK(Fenix_Data_member_store(group, array_id, beyond) == FENIX_ERROR_SUBSET_END_OFFSET);
  Fenix_Data_subset_delete(&beyond);
}

/* Time stamps 10, 11 and 12; depth 1 keeps the last two. */
static void commit_three(MPI_Comm comm) {
  int flag = 0;
  int stamp = 0;
  int mode[] = {1, 2};
  int three[] = {5, 1, 3};
  Fenix_Request request;
  Fenix_Data_subset subset;
  CHECK(Fenix_Data_group_create(group, comm, 10, 1, FENIX_DATA_POLICY_IMR, mode, &flag) == FENIX_SUCCESS);
  CHECK(Fenix_Data_group_create(other_group, comm, 0, 0, FENIX_DATA_POLICY_IMR, three, &flag) == FENIX_SUCCESS);
  for (int i = 0; i < count; ++i) array[i] = -1;
  CHECK(Fenix_Data_member_create(group, array_id, array, count, MPI_INT) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_create(group, scalar_id, &scalar, 1, MPI_DOUBLE) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_create(group, growing_id, growing, FENIX_RESIZEABLE, MPI_INT) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_create(other_group, array_id, &rank, 1, MPI_INT) == FENIX_SUCCESS);
  check_refusals(comm);
  CHECK(Fenix_Data_member_restore(group, array_id, array, count, FENIX_DATA_SNAPSHOT_LATEST, NULL) ==
        FENIX_ERROR_NODATA_FOUND);

  scalar = 0.5;
  CHECK(Fenix_Data_member_store(group, array_id, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_istore(group, scalar_id, FENIX_DATA_SUBSET_FULL, &request) == FENIX_SUCCESS);
  CHECK(Fenix_Data_test(request, &flag) == FENIX_SUCCESS && flag);
  CHECK(Fenix_Data_wait(request) == FENIX_SUCCESS);
  CHECK(Fenix_Data_commit(group, &stamp) == FENIX_SUCCESS && stamp == 10);

  Fenix_Data_subset_create(10, 0, 2, 5, &subset);
  for (int i = 0; i < count; ++i) array[i] = rank * 1000 + i;
  CHECK(Fenix_Data_member_storev(group, array_id, subset) == FENIX_SUCCESS);
  for (int i = 0; i < count; ++i) array[i] = -3; /* a store takes a copy */
  CHECK(Fenix_Data_commit_barrier(group, &stamp) == FENIX_SUCCESS && stamp == 11);
  Fenix_Data_subset_delete(&subset);

  for (int i = 0; i < 20; ++i) growing[i] = rank + i;
  Fenix_Data_subset_create(1, 0, 4 + rank, 1, &subset); /* another size on each rank */
  CHECK(Fenix_Data_member_istorev(group, growing_id, subset, &request) == FENIX_SUCCESS);
  CHECK(Fenix_Data_wait(request) == FENIX_SUCCESS);
  Fenix_Data_subset_delete(&subset);
  scalar = 1.5;
  CHECK(Fenix_Data_member_stage(group, scalar_id, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_store(group, scalar_id, FENIX_DATA_SUBSET_PRESTAGED) == FENIX_SUCCESS);
  CHECK(Fenix_Data_commit(group, FENIX_TIME_STAMP_IGNORE) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_store(other_group, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_commit(other_group, &stamp) == FENIX_SUCCESS && stamp == 0);

  /* Neither of these is committed: a failure takes back the one, and brings the other to whoever takes over. */
  scalar = 99;
  CHECK(Fenix_Data_member_store(group, scalar_id, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_create(group, late_id, &late, 1, MPI_INT) == FENIX_SUCCESS);
}

static void check_array(const int* values) {
  int right = 0;
  for (int i = 0; i < count; ++i) {
    const int stored = i < 50 && i % 5 <= 2;
    right += values[i] == (stored ? rank * 1000 + i : -1);
  }
  CHECK(right == count);
}

static void check_questions(void) {
  int number = 0;
  int value = 0;
  int flag = 0;
  int policy[3] = {0, 0, 0};
  void* buffer = NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  CHECK(Fenix_Data_group_created(group) && Fenix_Data_member_created(group, late_id));
  CHECK(Fenix_Data_group_get_number_of_members(group, &number) == FENIX_SUCCESS && number == 4);
  CHECK(Fenix_Data_group_get_member_at_position(group, &value, 1) == FENIX_SUCCESS && value == scalar_id);
  CHECK(Fenix_Data_group_get_member_at_position(group, &value, 4) == FENIX_ERROR_INVALID_POSITION);
  CHECK(Fenix_Data_group_get_number_of_snapshots(group, &number) == FENIX_SUCCESS && number == 2);
  CHECK(Fenix_Data_group_get_snapshot_at_position(group, 0, &value) == FENIX_SUCCESS && value == 12);
  CHECK(Fenix_Data_group_get_snapshot_at_position(group, 1, &value) == FENIX_SUCCESS && value == 11);
  CHECK(Fenix_Data_group_get_snapshot_at_position(group, 2, &value) == FENIX_ERROR_INVALID_POSITION);
  CHECK(Fenix_Data_group_get_redundancy_policy(other_group, &value, policy, &flag) == FENIX_SUCCESS);
  CHECK(value == FENIX_DATA_POLICY_IMR && flag == FENIX_SUCCESS && policy[0] == 5 && policy[2] == 3);
  CHECK(Fenix_Data_member_attr_get(group, array_id, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &value, &flag, rank) ==
        FENIX_SUCCESS);
  CHECK(flag && value == count);
  CHECK(Fenix_Data_member_attr_get(group, array_id, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type, &flag, rank) ==
        FENIX_SUCCESS);
  CHECK(flag && type == MPI_INT);
  CHECK(Fenix_Data_member_attr_get(group, array_id, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, &value, &flag, rank) ==
        FENIX_SUCCESS);
  CHECK(flag && value == (int)sizeof(int));
  CHECK(Fenix_Data_member_attr_get(group, array_id, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, &value, &flag, rank + 1) ==
        FENIX_SUCCESS);
  CHECK(!flag);
  CHECK(Fenix_Data_member_attr_set(group, array_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, array, &flag) == FENIX_SUCCESS);
  CHECK(flag == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_attr_get(group, array_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &buffer, &flag, rank) ==
        FENIX_SUCCESS);
  CHECK(flag && buffer == array);
  CHECK(Fenix_Data_member_attr_set(group, array_id, 4711, array, &flag) == FENIX_ERROR_INVALID_ATTRIBUTE_NAME);
  CHECK(flag == FENIX_ERROR_INVALID_ATTRIBUTE_NAME);
}

static void check_restores(void) {
  int values[count];
  int of_another[20];
  double number = 0;
  int one = 0;
  Fenix_Data_subset found = {NULL};
  CHECK(Fenix_Data_member_restore(group, array_id, values, count, FENIX_DATA_SNAPSHOT_LATEST, NULL) == FENIX_SUCCESS);
  check_array(values);
  CHECK(Fenix_Data_member_restore(group, scalar_id, &number, 1, 12, NULL) == FENIX_SUCCESS && number == 1.5);
  CHECK(Fenix_Data_member_restore(group, scalar_id, &number, 1, 11, NULL) == FENIX_SUCCESS && number == 0.5);
  CHECK(Fenix_Data_member_restore(group, scalar_id, &number, 1, 10, NULL) == FENIX_SUCCESS &&
        number == 1.5); /* not kept */
  CHECK(Fenix_Data_member_restore(group, late_id, &one, 1, 12, NULL) == FENIX_ERROR_NODATA_FOUND);
  CHECK(Fenix_Data_member_lrestore(group, growing_id, growing, 20, FENIX_DATA_SNAPSHOT_LATEST, &found) ==
        FENIX_SUCCESS);
  CHECK(found.impl != NULL && growing[4 + rank] == 4 + 2 * rank);
  CHECK(Fenix_Data_member_store(group, growing_id, found) == FENIX_SUCCESS); /* what was found can be stored */
  Fenix_Data_subset_delete(&found);
  CHECK(Fenix_Data_member_restore(other_group, array_id, &one, 1, 0, NULL) == FENIX_SUCCESS && one == rank);

  const int next = (rank + 1) % 4;
  for (int i = 0; i < 20; ++i) of_another[i] = -7;
  CHECK(Fenix_Data_member_restore_from_rank(growing_id, of_another, 20, 12, group, next) == FENIX_SUCCESS);
  CHECK(of_another[4 + next] == 4 + 2 * next && of_another[5 + next] == -7);
  of_another[4 + next] = -7;
  CHECK(Fenix_Data_member_restore_from_rank(group, growing_id, of_another, 20, 12, NULL, next) == FENIX_SUCCESS);
  CHECK(of_another[4 + next] == 4 + 2 * next && of_another[5 + next] == -7);
}

static void check_roles(MPI_Comm comm, int my_role, int dead) {
  int number = 0;
  int role = 0;
  int* failures = NULL;
  CHECK(Fenix_get_number_of_ranks_with_role(FENIX_ROLE_INITIAL_RANK, &number) == FENIX_SUCCESS && number == 0);
  CHECK(Fenix_get_number_of_ranks_with_role(FENIX_ROLE_RECOVERED_RANK, &number) == FENIX_SUCCESS && number == 1);
  CHECK(Fenix_get_number_of_ranks_with_role(FENIX_ROLE_SURVIVOR_RANK, &number) == FENIX_SUCCESS && number == 3);
  CHECK(Fenix_get_role() == (Fenix_Rank_role)my_role);
  CHECK(Fenix_get_role(comm, rank, &role) == FENIX_SUCCESS && role == my_role);
  CHECK(Fenix_get_rank_role(comm, dead, &role) == FENIX_SUCCESS && role == FENIX_ROLE_RECOVERED_RANK);
  CHECK(Fenix_get_role(comm, 4, &role) == FENIX_ERROR_INVALID_ATTRIBUTE_VALUE);
  CHECK(Fenix_get_nspare() == 1);
  CHECK(Fenix_get_error() == FENIX_SUCCESS);
  CHECK(Fenix_Process_fail_list(&failures) == 1 && failures[0] == dead);
}

static void forget_all(void) {
  int number = 0;
  CHECK(Fenix_Data_snapshot_delete(group, 11) == FENIX_SUCCESS);
  CHECK(Fenix_Data_snapshot_delete(group, 11) == FENIX_ERROR_INVALID_TIMESTAMP);
  CHECK(Fenix_Data_group_get_number_of_snapshots(group, &number) == FENIX_SUCCESS && number == 1);
  CHECK(Fenix_Data_member_delete(group, late_id) == FENIX_SUCCESS);
  CHECK(!Fenix_Data_member_created(group, late_id));
  CHECK(Fenix_Data_barrier(group) == FENIX_SUCCESS);
  CHECK(Fenix_Data_group_delete(group) == FENIX_SUCCESS);
  CHECK(Fenix_Data_group_delete(group) == FENIX_ERROR_INVALID_GROUPID);
}

int main(int argc, char** argv) {
  int role = 0;
  int error = 0;
  int flag = 1;
  unsigned option = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  static MPI_Request never = MPI_REQUEST_NULL;
  static int received = 0;
  const int dead = 2;
  read_deaths(argc, argv);

  check_subsets();
  CHECK(Fenix_Initialized(&flag) == FENIX_SUCCESS && flag == 0);
  CHECK(Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_JUMP) == FENIX_SUCCESS);
  CHECK(Fenix_set_option(FENIX_RESUME_MODE, 4711) == FENIX_ERROR_INVALID_SETTING_OPTION);
  CHECK(Fenix_get_option(FENIX_RESUME_MODE, &option) == FENIX_SUCCESS && option == FENIX_RESUME_JUMP);
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 2, &error); /* as later versions have it */
  MPI_Comm_rank(comm, &rank);
  CHECK(Fenix_Initialized(&flag) == FENIX_SUCCESS && flag == 1);
  CHECK(Fenix_Callback_pop() == FENIX_ERROR_CALLBACK_NOT_REGISTERED);

  if (role == FENIX_ROLE_INITIAL_RANK) {
    CHECK(Fenix_Process_detect_failures(1) == MPI_SUCCESS);
    commit_three(comm);
    MPI_Irecv(&received, 1, MPI_INT, dead, 1, comm, &never);
    die_at("half", 0, rank);
    for (;;) Fenix_Process_detect_failures(1); /* no other call of MPI: it is left by the jump */
  }
  CHECK(never == MPI_REQUEST_NULL || Fenix_check_cancelled(&never, MPI_STATUS_IGNORE));
  int mode[] = {1, 2};
  int three[] = {5, 1, 3};
  CHECK(Fenix_Data_group_create(group, comm, 10, 1, FENIX_DATA_POLICY_IMR, mode, &flag) == FENIX_SUCCESS);
  CHECK(Fenix_Data_group_create(other_group, comm, 0, 0, FENIX_DATA_POLICY_IMR, three, &flag) == FENIX_SUCCESS);
  check_questions();
  check_restores();
  check_roles(comm, role, dead);
  forget_all();
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  CHECK(Fenix_Finalized(&flag) == FENIX_SUCCESS && flag == 1);
  CHECK(Fenix_get_role() == (Fenix_Rank_role)role);
  CHECK(Fenix_Data_commit(other_group, NULL) == FENIX_ERROR_UNINITIALIZED);
  printf("rank %d: %d checks failed\n", rank, failed);
  return failed != 0; /* without MPI_Finalize, as some programs do */
}
