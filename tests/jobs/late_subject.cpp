// A program that calls mend::run when it has finalised MPI, and works on for as many seconds as its argument says.

#include "framework/mend.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  const int code = mend::run(argc, argv, [](mend::Session&) {});
  if (argc > 1) std::this_thread::sleep_for(std::chrono::seconds(std::atoi(argv[1])));
  return code;
}
