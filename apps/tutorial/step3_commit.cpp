// Step 3: the data is protected, and committed from time to time. After a death, all go on from the last commit.

#include "plate.hpp"

#include <mend.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return mend::run(argc, argv, [](mend::Session& session) {
    Plate plate(session.comm());
    mend::Store& store = session.store();
    store.protect("temperature", plate.temperature);
    store.protect("step", plate.step);
    store.restore();  // does nothing when nothing was committed yet
    while (plate.step < Plate::last_step) {
      plate.advance();
      if (session.commit_due()) store.commit();
    }
    const double heat = plate.heat();
    if (plate.rank == 0) std::printf("heat %.12f\n", heat);
  });
}
