// Step 5: survivors stay in the body, and keep what is expensive to set up. Only the data goes back to the last commit.

#include "plate.hpp"

#include <mend.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return mend::run(argc, argv, [](mend::Session& session) {
    Plate plate(session.comm());
    mend::Store& store = session.store();
    store.protect("temperature", plate.temperature);
    store.protect("step", plate.step);
    for (bool done = false; !done;) {
      try {
        plate.use(session.comm());  // a different one after each repair
        store.restore();
        while (plate.step < Plate::last_step) {
          plate.advance();
          if (session.commit_due()) store.commit();
        }
        const double heat = plate.heat();
        session.report("heat", heat);
        session.report_hash(plate.own());
        if (plate.rank == 0) std::printf("heat %.12f\n", heat);
        done = true;
      } catch (const mend::ProcessFailure&) {
        session.repair();
      }
    }
  });
}
