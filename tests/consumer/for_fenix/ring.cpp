// A program for Fenix in C++: passes a number round a ring, to which each rank adds one. When a rank is killed, it
// continues from the last lap that all ranks have committed.

#include <fenix.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace {

constexpr int laps = 50;
constexpr int group = 1;
constexpr int state_id = 7;

long state[2] = {0, 0};  // laps, number

void one_lap(MPI_Comm comm, int rank, int size) {
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

void run(MPI_Comm comm, bool kill_one) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fenix::data::group_create(group);
  fenix::data::member_define(group, state_id, state, 2, MPI_LONG);
  if (fenix::role() != fenix::INITIAL_RANK) fenix::data::member_restore(group, state_id);
  while (state[0] < laps) {
    const bool first_time = fenix::role() == fenix::INITIAL_RANK;
    if (kill_one && first_time && rank == 1 && state[0] == laps / 2) kill(getpid(), SIGKILL);
    one_lap(comm, rank, size);
    fenix::data::checkpoint(group, fenix::data::SUBSET_FULL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool kill_one = argc > 1 && std::string_view(argv[1]) == "kill";
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  while (true) {
    try {
      run(comm, kill_one);
      int rank = 0;
      MPI_Comm_rank(comm, &rank);
      const int role = fenix::role();
      Fenix_Finalize();
      if (rank == 0) std::printf("role %d, number %ld\n", role, state[1]);
      break;
    } catch (const fenix::CommException&) {
    }
  }
  MPI_Finalize();
  return 0;
}
