// What a program may do between Fenix_Finalize and MPI_Finalize: the resilient communicator is its own then, with all
// ranks in it. With `free` it frees it. With `die`, rank 2 dies there, and the others do not wait for it. Rank 1 dies
// before, or nobody does.

#include <fenix.hpp>

#include <cstdio>
#include <cstring>

#include "../checks.h"
#include "../die.h"

namespace {

/// Rank 2 dies when the others do nothing any more but leave.
void die_when_all_are_ready(MPI_Comm comm) {
  int nothing = 0;
  if (rank != 2) MPI_Send(&nothing, 1, MPI_INT, 2, 1, comm);
  for (int from = 0; rank == 2 && from < 4; ++from) {
    if (from != 2) MPI_Recv(&nothing, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
  }
  if (rank == 2) ::kill(::getpid(), SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  const bool dies = argc > 1 && std::strcmp(argv[1], "die") == 0;
  const bool frees = argc > 1 && std::strcmp(argv[1], "free") == 0;
  MPI_Init(&argc, &argv);
  CHECK(!fenix::initialized() && !fenix::finalized());
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  MPI_Comm_rank(comm, &rank);
  int rounds = 0;
  while (fenix::initialized() && ++rounds < 10) {
    try {
      die_at("working", 0, rank);
      MPI_Barrier(comm);
      Fenix_Finalize();
    } catch (const fenix::CommException&) {
    }
  }
  int flag = 1;
  CHECK(Fenix_Initialized(&flag) == FENIX_SUCCESS && flag == 0);
  CHECK(!fenix::initialized() && fenix::finalized());

  int size = 0;
  CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 4);
  for (int round = 0; round < 100; ++round) {
    int sum = round;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == 4 * round);
  }
  MPI_Comm half = MPI_COMM_NULL;
  CHECK(MPI_Comm_split(comm, rank % 2, 0, &half) == MPI_SUCCESS && MPI_Barrier(half) == MPI_SUCCESS);
  CHECK(MPI_Comm_free(&half) == MPI_SUCCESS);
  if (dies) die_when_all_are_ready(comm);
  if (!dies && rank == 2) {  // the others are in MPI_Finalize long before
    ::usleep(300'000);
    CHECK(MPI_Send(&size, 1, MPI_INT, 3, 0, comm) == MPI_SUCCESS);
  }
  if (!dies && rank == 3) CHECK(MPI_Recv(&size, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  if (frees) CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
  std::printf("rank %d: %d checks failed\n", rank, failed);
  std::fflush(stdout);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
