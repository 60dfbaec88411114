// A message log in which no rank has logged anything when rank 2 dies: nobody syncs it, and it can be used. HOW says
// where the failure is met in place: `detecting` by detect_failures, `receiving` in a logged call, `duplicate` there
// too, on a communicator that the callback makes again.

#include <fenix.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "../checks.h"
#include "../die.h"

namespace {

constexpr int log_id = 0;
MPI_Comm resilient = MPI_COMM_NULL;
MPI_Comm comm = MPI_COMM_NULL;
bool is_recovered = false;

void take_communicator(bool duplicates) {
  if (comm != MPI_COMM_NULL && duplicates) MPI_Comm_free(&comm);
  if (!duplicates) comm = resilient;
  if (duplicates) MPI_Comm_dup(resilient, &comm);
}

/// Rank 2 dies when the others wait for nothing any more but its death.
void die_when_all_are_ready() {
  int nothing = 0;
  if (rank != 2) MPI_Send(&nothing, 1, MPI_INT, 2, 1, resilient);
  for (int from = 0; rank == 2 && from < 4; ++from) {
    if (from != 2) MPI_Recv(&nothing, 1, MPI_INT, from, 1, resilient, MPI_STATUS_IGNORE);
  }
  die_at("working", 0, rank);
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.out_comm = &resilient, .argc = &argc, .argv = &argv, .spares = 1});
  MPI_Comm_rank(resilient, &rank);
  const bool duplicates = std::strcmp(argv[1], "duplicate") == 0;
  take_communicator(duplicates);
  fenix::callback_register([&](MPI_Comm, int) {
    take_communicator(duplicates);
    is_recovered = true;
  });
  fenix::mlog::create(log_id, comm, 2);
  fenix::set_option(fenix::MLOG_RECOVERY_MODE, fenix::INLINE);
  int got = -1;
  if (fenix::role() == fenix::INITIAL_RANK) {
    die_when_all_are_ready();
    fenix::mlog::activate(log_id);
    if (std::strcmp(argv[1], "detecting") == 0) {
      while (!is_recovered) {
        CHECK(fenix::detect_failures() == FENIX_SUCCESS);
        ::usleep(1000);
      }
    } else {
      CHECK(MPI_Recv(&got, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_recovered && got == 42);
    }
  } else {
    fenix::mlog::activate(log_id);
    got = 42;
    for (const int to : {0, 1, 3}) {
      if (std::strcmp(argv[1], "detecting") != 0) CHECK(MPI_Send(&got, 1, MPI_INT, to, 0, comm) == MPI_SUCCESS);
    }
  }
  int sum = 1;
  CHECK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == 4);
  int active = -1;
  CHECK(Fenix_Mlog_active(&active) == FENIX_SUCCESS && active == log_id);
  MPI_Request left_over = MPI_REQUEST_NULL;
  CHECK(MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % 4, 99, comm, &left_over) == MPI_SUCCESS);
  fenix::mlog::activate(FENIX_MLOG_NONE);
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  MPI_Status status;
  int was_cancelled = 0;
  CHECK(MPI_Wait(&left_over, &status) == MPI_SUCCESS);
  MPI_Test_cancelled(&status, &was_cancelled);
  CHECK(was_cancelled == 1);
  CHECK(MPI_Barrier(comm) == MPI_SUCCESS);  // until MPI_Finalize it is the program's
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
