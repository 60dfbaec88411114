// Step 1: plain MPI and Kokkos. When a process dies, all is lost.

#include "plate.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    Plate plate(MPI_COMM_WORLD);
    while (plate.step < Plate::last_step) plate.advance();
    const double heat = plate.heat();
    if (plate.rank == 0) std::printf("heat %.12f\n", heat);
  }
  MPI_Finalize();
}
