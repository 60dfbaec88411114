// In place: survivors catch the failure and stay in the body. They keep what they have set up, and restore the data.

#include "rod.hpp"

#include <mend.hpp>

#include <array>
#include <cstdio>

int main(int argc, char** argv) {
  return mend::run(argc, argv, [](mend::Session& session) {
    Rod rod;  // stands for data that takes long to set up: a mesh, a factorisation. Survivors do it once
    int recoveries_here = 0;

    mend::Store& store = session.store();
    store.protect("temperature", rod.temperature);
    store.protect("step", rod.step);

    for (bool done = false; !done;) {
      try {
        // A newcomer gets here from the beginning of the body, survivors from repair(). From here on they do the same.
        const std::array size{session.size()}, open_ended{0};
        MPI_Comm line = session.cart(size, open_ended);
        // The newcomer's data is that of the last commit, and survivors are some steps ahead. Ranks of a synchronous
        // method must be at the same step, so all go back. Only in methods that tolerate ranks at different steps may
        // survivors call restore_others() here instead, and keep their data.
        store.restore();

        while (rod.step < 1000) {
          rod.advance(line);
          if (session.commit_due()) store.commit();
        }
        const double heat = rod.heat(line);
        session.report("heat", heat);
        session.report_hash(rod.temperature);
        if (session.rank().value == 0)
          std::printf("heat %.12f after %d steps, %d repairs here\n", heat, rod.step, recoveries_here);
        done = true;
      } catch (const mend::ProcessFailure&) {
        session.repair();
        ++recoveries_here;
      }
    }
  });
}
