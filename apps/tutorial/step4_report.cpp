// Step 4: the program reports its answer, so that `mend report` can show it and compare two runs to the last bit.

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
    session.report("heat", heat);
    session.report_hash(plate.own());
    if (plate.rank == 0) std::printf("heat %.12f\n", heat);
  });
}
