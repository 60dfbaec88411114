// A program that calls mend::run when it has finalised MPI.

#include "framework/mend.hpp"

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return mend::run(argc, argv, [](mend::Session&) {});
}
