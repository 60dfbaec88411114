// Step 6: the job leaves in time, and its next launch goes on from disk, with another number of ranks if it has one.

#include "plate.hpp"

#include <mend.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return mend::run(argc, argv, [](mend::Session& session) {
    Plate plate(session.comm());
    const auto rows = static_cast<std::size_t>(plate.rows);
    const auto first = static_cast<std::size_t>(plate.rank) * rows;
    const auto own = Kokkos::subview(plate.temperature, Kokkos::pair(1, plate.rows + 1), Kokkos::ALL);
    mend::Store& store = session.store();
    store.protect("temperature", mend::part(own, {Plate::height, Plate::width}, {first, 0}));
    store.protect("step", mend::replicated(plate.step));
    store.restore();  // from disk, when memory has nothing
    while (plate.step < Plate::last_step) {
      plate.advance();
      if (session.commit_due()) store.commit();
      if (session.should_exit()) return;  // on all ranks at the same step
    }
    const double heat = plate.heat();
    session.report("heat", heat);
    session.report_hash(plate.own());
    if (plate.rank == 0) std::printf("heat %.12f\n", heat);
  });
}
