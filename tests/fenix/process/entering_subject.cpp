// A process that takes over a rank meets another failure before it comes out of fenix::init: it comes out as a rank
// that was taken over all the same, because the program in it has not begun.
//
//   Process 1 dies at work, process 3 when it has recovered from that, before process 4 has come out.
//
// The others learn of both at once. Process 5, which takes over rank 3, knows of the second death alone.

#include "base/fault_point.hpp"

#include <fenix.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  if (process == 3) {
    mend::on_fault_point([](std::string_view point) {
      if (point == "recovery.done") ::kill(::getpid(), SIGKILL);
    });
  }
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 2});
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int role = fenix::role();
  if (process == 1) ::kill(::getpid(), SIGKILL);
  while (true) {
    try {
      MPI_Barrier(comm);
      Fenix_Finalize();
      break;
    } catch (const fenix::CommException&) {
    }
  }
  std::string failed;
  for (const int dead : fenix::fail_list()) failed += ' ' + std::to_string(dead);
  std::printf("rank %d: came out as %d, failed:%s\n", rank, role, failed.c_str());
  MPI_Finalize();
  return 0;
}
