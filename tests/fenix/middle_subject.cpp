// Fenix_Init in the middle of a program that has been in MPI for a while: on a duplicate of the world, with error
// handlers of the program's own on it and on MPI_COMM_WORLD, which stay. A spare that was never needed is released, and
// goes on.

#include <fenix.hpp>

#include <cstdio>

#include "checks.h"
#include "die.h"

namespace {

int handled_in_world = 0;
int handled_in_duplicate = 0;

void count_in_world(MPI_Comm*, int*, ...) { ++handled_in_world; }
void count_in_duplicate(MPI_Comm*, int*, ...) { ++handled_in_duplicate; }

void set_handler(MPI_Comm comm, MPI_Comm_errhandler_function* function) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
}

/// A wrong call on each: its own handler hears of it.
void check_handlers(MPI_Comm world) {
  int nothing = 0;
  const int before_in_world = handled_in_world;
  const int before = handled_in_duplicate;
  MPI_Send(&nothing, 1, MPI_INT, 4711, 0, world);
  MPI_Send(&nothing, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
  CHECK(handled_in_duplicate == before + 1 && handled_in_world == before_in_world + 1);
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank);
  set_handler(MPI_COMM_WORLD, &count_in_world);
  set_handler(world, &count_in_duplicate);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, world);
  CHECK(sum == 6);

  fenix::set_option(fenix::SPARE_FINALIZE_MODE, fenix::RELEASE);
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::init({.in_comm = world, .out_comm = &comm, .spares = 2});
  if (fenix::role() == fenix::SPARE_RANK) {
    CHECK(comm == MPI_COMM_NULL && fenix::finalized());
    std::printf("rank %d: %d checks failed\n", rank, failed);
    MPI_Finalize();
    return failed != 0 ? 1 : 0;
  }
  check_handlers(world);
  int done = fenix::role() == fenix::RECOVERED_RANK ? 1 : 0;
  while (true) {
    try {
      MPI_Comm_rank(comm, &rank);
      if (done == 0) die_at("working", 0, rank);
      MPI_Barrier(comm);
      Fenix_Finalize();
      break;
    } catch (const fenix::CommException&) {
      done = 1;
      check_handlers(world);
    }
  }
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
