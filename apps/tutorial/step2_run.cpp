// Step 2: mend enters the body. When a process dies, a spare takes its rank, and all begin anew.

#include "plate.hpp"

#include <mend.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return mend::run(argc, argv, [](mend::Session& session) {
    Plate plate(session.comm());
    while (plate.step < Plate::last_step) plate.advance();
    const double heat = plate.heat();
    if (plate.rank == 0) std::printf("heat %.12f\n", heat);
  });
}
