/* What Fenix as of 2026 has on data beyond 1.0, in C, on 4 ranks of which one is killed between two halves: members
 * with serializers, members without a count, staging and loading through files, the local policy. */

#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../checks.h"
#include "../die.h"

enum { group = 1, local_group = 2, list_id = 10, squares_id = 11, file_id = 12, plain_id = 13, own_id = 14 };
enum { squares = 30 };

struct node {
  int value;
  struct node* next;
};

static struct node* list = NULL;
static int square[squares];
static int plain[8];
static int own[3];

static void push(int value) {
  struct node* front = malloc(sizeof *front);
  front->value = value;
  front->next = list;
  list = front;
}

static void drop_list(void) {
  while (list != NULL) {
    struct node* next = list->next;
    free(list);
    list = next;
  }
}

/* Of a member without a count: all nodes, however many there are. */
static void write_or_read_list(FILE* file, int direction, void* buffer, int offset, int count, void* context) {
  int number = 0;
  CHECK(buffer == NULL && offset == 0 && context == &list);
  if (direction == FENIX_SERIALIZE) {
    CHECK(count == FENIX_RESIZEABLE);
    for (const struct node* at = list; at != NULL; at = at->next) ++number;
    fwrite(&number, sizeof number, 1, file);
    for (const struct node* at = list; at != NULL; at = at->next) fwrite(&at->value, sizeof at->value, 1, file);
    return;
  }
  drop_list();
  CHECK(fread(&number, sizeof number, 1, file) == 1 && count == number + 1);
  for (int i = 0; i < number; ++i) {
    int value = 0;
    CHECK(fread(&value, sizeof value, 1, file) == 1);
    push(value);
  }
}

/* Of a member with a count: each element is kept as its negative. */
static void write_or_read_squares(FILE* file, int direction, void* buffer, int offset, int count, void* context) {
  int* elements = buffer;
  CHECK(context == NULL);
  for (int i = offset; i < offset + count; ++i) {
    int kept = -elements[i];
    if (direction == FENIX_SERIALIZE) {
      fwrite(&kept, sizeof kept, 1, file);
    } else if (fread(&kept, sizeof kept, 1, file) == 1) {
      elements[i] = -kept;
    }
  }
}

/* Each rank says what it knows itself: a process that takes over has forgotten the functions and the buffers. */
static void define_members(void) {
  CHECK(Fenix_Data_member_fdefine(group, list_id, NULL, FENIX_RESIZEABLE, MPI_INT, write_or_read_list, &list) ==
        FENIX_SUCCESS);
  CHECK(Fenix_Data_member_fcreate(group, squares_id, square, squares, MPI_INT, write_or_read_squares, NULL) ==
        FENIX_SUCCESS);
  CHECK(Fenix_Data_member_define(group, file_id, NULL, FENIX_RESIZEABLE, MPI_CHAR) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_define(group, plain_id, plain, 8, MPI_INT) == FENIX_SUCCESS);
}

static void write_file(const char* text) {
  FILE* file = NULL;
  CHECK(Fenix_Data_member_stage_end(group, file_id) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(Fenix_Data_member_stage_begin(group, file_id, &file) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_stage_begin(group, file_id, &file) == FENIX_ERROR_MEMBER_STAGING);
  CHECK(Fenix_Data_member_store(group, file_id, FENIX_DATA_SUBSET_PRESTAGED) == FENIX_ERROR_MEMBER_STAGING);
  fprintf(file, "rank %d says ", rank);
  fputs(text, file);
  CHECK(Fenix_Data_member_stage_end(group, file_id) == FENIX_SUCCESS);
}

static void read_file(const char* text) {
  char expected[64];
  char line[64] = "";
  FILE* file = NULL;
  Fenix_Data_subset found;
  CHECK(Fenix_Data_member_load_begin(group, file_id, &file, FENIX_DATA_SNAPSHOT_LATEST, &found) == FENIX_SUCCESS);
  CHECK(Fenix_data_member_load_begin(group, file_id, &file, FENIX_DATA_SNAPSHOT_LATEST, NULL) ==
        FENIX_ERROR_MEMBER_LOADING);
  CHECK(Fenix_Data_member_stage_begin(group, file_id, &file) == FENIX_ERROR_MEMBER_LOADING);
  const size_t length = fread(line, 1, sizeof line - 1, file);
  CHECK(Fenix_Data_member_load_end(group, file_id) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_load_end(group, file_id) == FENIX_ERROR_INVALID_LOGIC_CALL);
  snprintf(expected, sizeof expected, "rank %d says %s", rank, text);
  CHECK(length == strlen(expected) && strcmp(line, expected) == 0);
  Fenix_Data_subset_delete(&found);
}

/* Nothing is shared: these functions are not collective. */
static void keep_locally(MPI_Comm comm) {
  int flag = 0;
  int size = 0;
  int ranks = 0;
  MPI_Group cohort;
  CHECK(Fenix_Data_group_create(local_group, comm, 5, 1, FENIX_DATA_POLICY_LOCAL, NULL, &flag) == FENIX_SUCCESS);
  CHECK(Fenix_Data_group_get_cohort(local_group, &cohort) == FENIX_SUCCESS);
  MPI_Group_size(cohort, &size);
  MPI_Group_free(&cohort);
  CHECK(size == 1);
  CHECK(Fenix_Data_group_get_cohort(group, &cohort) == FENIX_SUCCESS);
  MPI_Group_size(cohort, &size);
  MPI_Group_free(&cohort);
  MPI_Comm_size(comm, &ranks);
  CHECK(size == ranks);
}

static void check_slots(MPI_Comm comm) {
  int number = -1;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Group before = MPI_GROUP_NULL;
  MPI_Group after = MPI_GROUP_NULL;
  CHECK(Fenix_rank_to_slot(comm, rank, &number) == FENIX_SUCCESS && number == rank && Fenix_get_slot() == rank);
  CHECK(Fenix_slot_to_rank(comm, 3, &number) == FENIX_SUCCESS && number == 3);
  CHECK(Fenix_slot_to_rank(comm, 99, &number) == FENIX_SUCCESS && number == MPI_UNDEFINED);
  MPI_Comm_group(MPI_COMM_WORLD, &before); /* 4 ranks and the spare, which has taken over one of them */
  CHECK(Fenix_repair_group(before, &after) == FENIX_SUCCESS);
  MPI_Group_size(after, &number);
  CHECK(number == 4);
  MPI_Group_free(&before);
  MPI_Group_free(&after);
  MPI_Comm_dup(comm, &copy);
  CHECK(Fenix_comm_revoke(copy) == MPI_SUCCESS);
  MPI_Comm_free(&copy);
}

/* A file may have more than the member, which takes what it has room for. */
static void stage_too_much(void) {
  FILE* file = NULL;
  int more[5];
  for (int i = 0; i < 5; ++i) more[i] = rank + i;
  CHECK(Fenix_Data_member_stage_begin(local_group, own_id, &file) == FENIX_SUCCESS);
  CHECK(fwrite(more, sizeof *more, 5, file) == 5);
  CHECK(Fenix_Data_member_stage_end(local_group, own_id) == FENIX_SUCCESS);
}

static void first_half(MPI_Comm comm) {
  int stamp = 0;
  int* buffer = malloc(8 * sizeof *buffer);
  Fenix_Data_subset some;
  define_members();
  for (int i = 0; i <= rank; ++i) push(i);
  for (int i = 0; i < squares; ++i) square[i] = i * i + rank;
  for (int i = 0; i < 8; ++i) plain[i] = 10 * rank + i;
  write_file("one");
  Fenix_Data_subset_create(1, 0, 7, 1, &some);
  CHECK(Fenix_Data_member_stage(group, plain_id, FENIX_DATA_SUBSET_PRESTAGED) == FENIX_ERROR_INVALID_SUBSET);
  CHECK(Fenix_Data_member_store(group, list_id, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_store(group, squares_id, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_stage(group, plain_id, some) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_store(group, plain_id, FENIX_DATA_SUBSET_PRESTAGED) == FENIX_SUCCESS);
  CHECK(Fenix_Data_commit(group, &stamp) == FENIX_SUCCESS && stamp == 0);
  Fenix_Data_subset_delete(&some);

  /* The next snapshot has a shorter file, three of the eight elements, and all squares. */
  write_file("2");
  push(100);
  for (int i = 0; i < 8; ++i) buffer[i] = -i;
  Fenix_Data_subset_create(1, 2, 4, 1, &some);
  CHECK(Fenix_Data_member_stage_inplace(group, plain_id, buffer, FENIX_DATA_SUBSET_PRESTAGED) ==
        FENIX_ERROR_INVALID_SUBSET); /* the buffer is not freed */
  CHECK(Fenix_Data_member_stage_inplace(group, plain_id, buffer, some) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_store(group, list_id, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_commit(group, &stamp) == FENIX_SUCCESS && stamp == 1);
  Fenix_Data_subset_delete(&some);

  keep_locally(comm);
  for (int i = 0; i < 3; ++i) own[i] = rank + i;
  CHECK(Fenix_Data_member_create(local_group, own_id, own, 3, MPI_INT) == FENIX_SUCCESS);
  CHECK(Fenix_Data_checkpoint(local_group, FENIX_DATA_SUBSET_FULL, 0, NULL, &stamp) == FENIX_SUCCESS && stamp == 5);
  stage_too_much();
  CHECK(Fenix_Data_commit(local_group, &stamp) == FENIX_SUCCESS && stamp == 6);
}

static void count_call(MPI_Comm comm, int error, void* calls) {
  CHECK(comm != MPI_COMM_NULL && error != MPI_SUCCESS);
  *(int*)calls += 1;
}

static void second_half(MPI_Comm comm, int role) {
  int values[8];
  int stamp = 0;
  Fenix_Data_subset found;
  define_members();
  CHECK(Fenix_Data_member_repair(group, list_id) == FENIX_SUCCESS);
  CHECK(Fenix_Data_member_repair(group, 4711) == FENIX_ERROR_INVALID_MEMBERID);
  CHECK(Fenix_Data_member_load(group, list_id, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE) == FENIX_SUCCESS);
  int nodes = 0;
  int sum = 0;
  for (const struct node* at = list; at != NULL; at = at->next) {
    ++nodes;
    sum += at->value;
  }
  CHECK(nodes == rank + 2 && sum == rank * (rank + 1) / 2 + 100);

  memset(square, 0, sizeof square);
  CHECK(Fenix_Data_member_load(group, squares_id, FENIX_DATA_SNAPSHOT_ALL, NULL) == FENIX_SUCCESS);
  CHECK(square[0] == rank && square[squares - 1] == (squares - 1) * (squares - 1) + rank);
  CHECK(Fenix_Data_member_load(group, squares_id, FENIX_DATA_SNAPSHOT_LATEST, NULL) == FENIX_ERROR_NODATA_FOUND);

  /* The newest snapshot has only what was stored for it; a question for all finds the rest. */
  for (int i = 0; i < 8; ++i) values[i] = 7;
  CHECK(Fenix_Data_member_load_to(group, plain_id, values, 8, FENIX_DATA_SNAPSHOT_LATEST, &found) ==
        FENIX_WARNING_PARTIAL_RESTORE);
  CHECK(values[1] == 7 && values[2] == -2 && values[4] == -4 && values[5] == 7);
  Fenix_Data_subset_delete(&found);
  CHECK(Fenix_Data_member_restore(group, plain_id, values, 8, 0, NULL) == FENIX_SUCCESS && values[7] == 10 * rank + 7);
  CHECK(Fenix_Data_member_load_to(group, plain_id, values, 8, FENIX_DATA_SNAPSHOT_ALL, NULL) == FENIX_SUCCESS);
  CHECK(values[1] == 10 * rank + 1 && values[2] == -2 && values[4] == -4 && values[5] == 10 * rank + 5);
  CHECK(Fenix_Data_member_restore(group, plain_id, NULL, 0, 0, &found) == FENIX_SUCCESS); /* only asks */
  Fenix_Data_subset_delete(&found);

  int calls = 0;
  CHECK(Fenix_Callback_register(count_call, &calls) == FENIX_SUCCESS);
  if (role == FENIX_ROLE_SURVIVOR_RANK) CHECK(Fenix_Callback_invoke_all() == FENIX_SUCCESS && calls == 1);
  CHECK(Fenix_Callback_pop() == FENIX_SUCCESS);

  read_file("2");
  check_slots(comm);
  keep_locally(comm);
  CHECK(Fenix_Data_member_define(local_group, own_id, own, 3, MPI_INT) == FENIX_SUCCESS);
  const int kept = Fenix_Data_member_load(local_group, own_id, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  if (role == FENIX_ROLE_SURVIVOR_RANK) {
    CHECK(kept == FENIX_SUCCESS && own[2] == rank + 2);
    values[3] = 7;
    CHECK(Fenix_Data_member_load_to(local_group, own_id, values, FENIX_DATA_RESTORE_FULL, FENIX_DATA_SNAPSHOT_LATEST,
                                    NULL) == FENIX_SUCCESS);
    CHECK(values[2] == rank + 2 && values[3] == 7);
  } else {
    CHECK(kept == FENIX_ERROR_NODATA_FOUND);
  }
  CHECK(Fenix_Data_member_stage(group, plain_id, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
  CHECK(Fenix_Data_commit(group, &stamp) == FENIX_SUCCESS && stamp == 2);
}

int main(int argc, char** argv) {
  int role = 0;
  int error = 0;
  int flag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  MPI_Comm_rank(comm, &rank);
  CHECK(Fenix_Data_group_create(group, comm, 0, 1, FENIX_DATA_POLICY_IMR, NULL, &flag) == FENIX_SUCCESS);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    first_half(comm);
    die_at("half", 0, rank);
    for (;;) Fenix_Process_detect_failures(1); /* left by the jump */
  }
  second_half(comm, role);
  drop_list();
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  MPI_Finalize();
  printf("rank %d: %d checks failed\n", rank, failed);
  return failed != 0;
}
