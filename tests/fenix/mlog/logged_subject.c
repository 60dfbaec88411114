/* A program in C with a message log. Every rank has a field, which it changes in each step by what the others send: by
 * every kind of call that is logged. It commits every few steps, not where all messages have been received. At the end
 * each says the bits of its field, and how many steps it has computed.
 *
 * What a rank does after a failure is the first argument:
 *   autosync   FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC: nothing, the call goes on
 *   inline     FENIX_MLOG_RECOVERY_INLINE: its callback syncs, and the call goes on
 *   return     FENIX_RESUME_RETURN: its callback syncs, and it makes the call again
 *   jump       all go back to the last commit
 * --depth=N: of the log. --kept=no: the log is no member of what is committed.
 * --die-after=PROCESS:MICROSECONDS,...: these processes of the launch die then. */

#include "../checks.h"
#include "../die.h"

#include <fenix.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { group = 1, state_id = 1, field_id = 2, log_member = 3, log_id = 7, cells = 512, every = 5 };

static int steps = 24;
static int computed = 0; /* steps, in this process */
static struct {
  int step;
  int version;
} state;
static double field[cells];
static MPI_Comm comm;
static int size;
static int depth = 12;
static int kept = 1;
static const char* mode = "autosync";
static int is_recovered = 0; /* has its data, so that others' failures do not concern it */

static int is_mode(const char* name) { return strcmp(mode, name) == 0; }

/* With FENIX_RESUME_RETURN a call that a failure has interrupted has not happened. */
#define LOGGED(call)                                                \
  do {                                                              \
    int code = (call);                                              \
    while (code != MPI_SUCCESS && is_mode("return")) code = (call); \
    CHECK(code == MPI_SUCCESS);                                     \
  } while (0)

static void define(void) {
  Fenix_Data_group_create(group, comm, 0, 1, FENIX_DATA_POLICY_IMR, NULL, NULL);
  Fenix_Data_member_define(group, state_id, &state, 2, MPI_INT);
  Fenix_Data_member_define(group, field_id, field, cells, MPI_DOUBLE);
  if (kept) Fenix_Mlog_define_data_member(log_id, group, log_member);
}

/* What others that stay where they are do when a rank comes back: they give it its data. */
static void give(MPI_Comm repaired, int error, void* unused) {
  (void)repaired;
  (void)error;
  (void)unused;
  die_at("calling_back", 0, rank);
  if (is_mode("jump")) return;
  Fenix_Data_group_create(group, comm, 0, 1, FENIX_DATA_POLICY_IMR, NULL, NULL);
  Fenix_Data_member_restore(group, state_id, NULL, 0, FENIX_TIME_STAMP_MAX, NULL);
  if (!is_mode("autosync")) Fenix_Mlog_sync(log_id, FENIX_MLOG_CONTINUE);
}

static void mix(const double* values, int count, double weight) {
  for (int i = 0; i < cells; ++i) field[i] = field[i] * 0.75 + values[i % count] * weight + 1.0 / (1 + i + state.step);
}

static void exchange(int step) {
  static double from_left[cells];
  static double large[8192];
  double out[64];
  double in[4][64];
  MPI_Request requests[4];
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  LOGGED(
      MPI_Sendrecv(field, cells, MPI_DOUBLE, right, 1, from_left, cells, MPI_DOUBLE, left, 1, comm, MPI_STATUS_IGNORE));
  mix(from_left, cells, 0.125);
  die_at("exchanging", step, rank);
  for (int i = 0; i < 64; ++i) out[i] = field[i] + rank;
  LOGGED(MPI_Irecv(in[0], 64, MPI_DOUBLE, left, 2, comm, &requests[0]));
  LOGGED(MPI_Irecv(in[1], 64, MPI_DOUBLE, right, 3, comm, &requests[1]));
  LOGGED(MPI_Isend(out, 64, MPI_DOUBLE, right, 2, comm, &requests[2]));
  LOGGED(MPI_Isend(out, 64, MPI_DOUBLE, left, 3, comm, &requests[3]));
  die_at("waiting", step, rank);
  LOGGED(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  mix(in[0], 64, 0.0625);
  mix(in[1], 64, 0.0625);
  if (step % 3 == 0) { /* too large to be sent before its receive is there */
    for (int i = 0; i < 8192; ++i) large[i] = field[i % cells] * i;
    if (rank % 2 == 0) LOGGED(MPI_Send(large, 8192, MPI_DOUBLE, right, 4, comm));
    if (left % 2 == 0) LOGGED(MPI_Recv(large, 8192, MPI_DOUBLE, left, 4, comm, MPI_STATUS_IGNORE));
    mix(large, 8192, 1e-5);
  }
}

static void collect(int step) {
  double sums[8];
  double gathered[64];
  const int root = step % size;
  for (int i = 0; i < 8; ++i) sums[i] = rank == root ? field[i] : 0;
  LOGGED(MPI_Bcast(sums, 8, MPI_DOUBLE, root, comm));
  mix(sums, 8, 0.03125);
  for (int i = 0; i < 8; ++i) gathered[i] = 0;
  LOGGED(MPI_Reduce(field, gathered, 8, MPI_DOUBLE, MPI_SUM, root, comm));
  mix(gathered, 8, 0.01);
  die_at("collecting", step, rank);
  LOGGED(MPI_Allreduce(field, sums, 8, MPI_DOUBLE, MPI_MAX, comm));
  mix(sums, 8, 0.02);
  if (step % 2 == 0) LOGGED(MPI_Barrier(comm));
  LOGGED(MPI_Allgather(field, 8, MPI_DOUBLE, gathered, 8, MPI_DOUBLE, comm));
  mix(gathered, 8 * size, 0.015);
}

/* Messages that are matched before they are received, and sends that wait for that. */
static void exchange_matched(int step) {
  double out[2][32];
  double in[2][32];
  int found = 0;
  MPI_Message message[2];
  MPI_Request requests[3];
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  for (int i = 0; i < 32; ++i) {
    out[0][i] = field[i] - rank;
    out[1][i] = field[cells - 1 - i] + rank;
  }
  LOGGED(MPI_Issend(out[0], 32, MPI_DOUBLE, right, 5, comm, &requests[0]));
  LOGGED(MPI_Issend(out[1], 32, MPI_DOUBLE, left, 6, comm, &requests[1]));
  die_at("sending", step, rank);
  LOGGED(MPI_Mprobe(left, 5, comm, &message[0], MPI_STATUS_IGNORE));
  while (!found) LOGGED(MPI_Improbe(right, 6, comm, &found, &message[1], MPI_STATUS_IGNORE));
  die_at("matched", step, rank);
  LOGGED(MPI_Mrecv(in[0], 32, MPI_DOUBLE, &message[0], MPI_STATUS_IGNORE));
  LOGGED(MPI_Imrecv(in[1], 32, MPI_DOUBLE, &message[1], &requests[2]));
  LOGGED(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  mix(in[0], 32, 0.04);
  mix(in[1], 32, 0.05);
}

/* Collective calls that are begun, and some that are over before others: each rank has its own way to wait. */
static void collect_begun(int step) {
  double from_root[8];
  double sums[8];
  double most[8];
  double gathered[64];
  double blocks[2][16];
  int counts[16];
  int offsets[16];
  MPI_Datatype types[16];
  MPI_Request requests[6];
  const int root = step % size;
  for (int i = 0; i < 8; ++i) {
    from_root[i] = rank == root ? field[i] : 0;
    most[i] = 0;
  }
  for (int i = 0; i < 64; ++i) gathered[i] = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = 1;
    offsets[i] = i * (int)sizeof(double);
    types[i] = MPI_DOUBLE;
  }
  LOGGED(MPI_Ibcast(from_root, 8, MPI_DOUBLE, root, comm, &requests[0]));
  LOGGED(MPI_Iallreduce(field, sums, 8, MPI_DOUBLE, MPI_SUM, comm, &requests[1]));
  LOGGED(MPI_Ireduce(field, most, 8, MPI_DOUBLE, MPI_MAX, root, comm, &requests[2]));
  LOGGED(MPI_Igather(field, 8, MPI_DOUBLE, gathered, 8, MPI_DOUBLE, root, comm, &requests[3]));
  die_at("begun", step, rank);
  LOGGED(MPI_Ialltoallw(field, counts, offsets, types, blocks[0], counts, offsets, types, comm, &requests[4]));
  LOGGED(MPI_Ibarrier(comm, &requests[5]));
  if (rank % 2 == 0) {
    LOGGED(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
  } else {
    for (int i = 5; i >= 0; --i) {
      int done = 0;
      while (!done) LOGGED(MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE));
    }
  }
  mix(from_root, 8, 0.01);
  mix(sums, 8, 0.02);
  mix(most, 8, 0.015);
  mix(gathered, 64, 0.01);
  mix(blocks[0], size, 0.03);
  die_at("transposing", step, rank);
  LOGGED(MPI_Alltoallw(field, counts, offsets, types, blocks[1], counts, offsets, types, comm));
  mix(blocks[1], size, 0.02);
}

static int commit_once(void) {
  die_at("committing", state.step, rank);
  return Fenix_Data_checkpoint(group, FENIX_DATA_SUBSET_FULL, 0, NULL, NULL);
}

static void commit(void) {
  int code;
  ++state.version;
  do {
    code = commit_once();
  } while (code == FENIX_ERROR_CANCELLED);
  CHECK(code == FENIX_SUCCESS);
  die_at("committed", state.step, rank);
}

/* All ranks, before anything was committed. */
static int begin(int role) {
  memset(&state, 0, sizeof state);
  for (int i = 0; i < cells; ++i) field[i] = rank + i / 7.0;
  if (role == FENIX_ROLE_INITIAL_RANK && kept) {
    Fenix_Data_subset part;
    Fenix_Data_subset_create(1, 0, 9, 10, &part);
    CHECK(Fenix_Data_member_store(group, log_member, part) == FENIX_ERROR_INVALID_SUBSET);
    Fenix_Data_subset_delete(&part);
  }
  const int code = role == FENIX_ROLE_INITIAL_RANK ? FENIX_SUCCESS : Fenix_Mlog_sync(log_id, 0);
  return code == FENIX_SUCCESS ? commit_once() : code;
}

static int load(int member) {
  return Fenix_Data_member_restore(group, member, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                   FENIX_TIME_STAMP_MAX, NULL);
}

/* Ranks that take over, and with `jump` all, get what was committed. */
static int restore(int role) {
  define();
  die_at("restoring", 0, rank);
  const int found = load(state_id);
  if (found == FENIX_ERROR_NODATA_FOUND) return begin(role);
  if (found != FENIX_SUCCESS || load(field_id) != FENIX_SUCCESS) return FENIX_ERROR_CANCELLED;
  if (kept && load(log_member) != FENIX_SUCCESS) return FENIX_ERROR_CANCELLED;
  die_at("syncing", 0, rank);
  const int code = Fenix_Mlog_sync(log_id, state.step);
  if (code == FENIX_SUCCESS && kept) CHECK(load(log_member) == FENIX_ERROR_INVALID_LOGIC_CALL);
  if (code == FENIX_SUCCESS) die_at("synced", 0, rank);
  return code;
}

/* Until this rank has its data. */
static void enter(int role) {
  int code = FENIX_ERROR_CANCELLED;
  if (role == FENIX_ROLE_INITIAL_RANK) {
    define();
    if (kept) Fenix_Mlog_create_data_member(log_id, group, log_member);
    code = begin(role);
  }
  while (code == FENIX_ERROR_CANCELLED) code = restore(FENIX_ROLE_SURVIVOR_RANK);
  CHECK(code == FENIX_SUCCESS);
}

int main(int argc, char** argv) {
  int role = 0;
  int error = 0;
  int spares = 1;
  int last = -2;
  MPI_Init(&argc, &argv);
  read_deaths(argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') mode = argv[i];
    if (strncmp(argv[i], "--spares=", 9) == 0) spares = atoi(argv[i] + 9);
    if (strncmp(argv[i], "--steps=", 8) == 0) steps = atoi(argv[i] + 8);
    if (strncmp(argv[i], "--depth=", 8) == 0) depth = atoi(argv[i] + 8);
    if (strcmp(argv[i], "--kept=no") == 0) kept = 0;
  }
  die_after(argc, argv);
  if (is_mode("return")) Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &error);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int made = Fenix_Mlog_create(log_id, &comm, depth);
  CHECK(made == FENIX_SUCCESS || made == FENIX_ERROR_MLOG_EXISTS); /* of before a jump */
  CHECK(Fenix_Mlog_active(&last) == FENIX_SUCCESS && (last == FENIX_MLOG_NONE || last == log_id));
  Fenix_Mlog_activate(FENIX_MLOG_NONE);
  CHECK(Fenix_Mlog_create(log_id + 1, &comm, 1) == FENIX_SUCCESS && Fenix_Mlog_delete(log_id + 1) == FENIX_SUCCESS);
  enter(role);
  if (!is_recovered) {
    is_recovered = 1;
    Fenix_Callback_register(give, NULL);
  }
  if (is_mode("autosync")) Fenix_set_option(FENIX_MLOG_RECOVERY_MODE, FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC);
  if (is_mode("inline")) Fenix_set_option(FENIX_MLOG_RECOVERY_MODE, FENIX_MLOG_RECOVERY_INLINE);
  while (state.step < steps) {
    if (state.step % 2 == 0) {
      CHECK(Fenix_Mlog_activate(log_id) == FENIX_SUCCESS &&
            Fenix_Mlog_begin_region(log_id, state.step) == FENIX_SUCCESS);
    } else {
      CHECK(Fenix_Mlog_activate_region(log_id, state.step) == FENIX_SUCCESS);
    }
    die_at("beginning", state.step, rank);
    exchange(state.step);
    collect(state.step);
    if (state.step % 4 == 1) {
      exchange_matched(state.step);
      collect_begun(state.step);
    }
    ++state.step;
    ++computed;
    if (state.step % every == 0) commit();
  }
  die_at("finishing", state.step, rank);
  live_on();
  int code = FENIX_SUCCESS;
  do {
    code = Fenix_Finalize();
  } while (code == FENIX_ERROR_CANCELLED);
  CHECK(code == FENIX_SUCCESS && failed == 0);
  uint64_t bits = 0;
  for (int i = 0; i < cells; ++i) {
    uint64_t one = 0;
    memcpy(&one, &field[i], sizeof one);
    bits = bits * 1099511628211U + one;
  }
  printf("rank %d: %016" PRIx64 " after %d steps, %d checks failed\n", rank, bits, computed, failed);
  MPI_Finalize();
  return 0;
}
