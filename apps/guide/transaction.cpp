// Transactions: a piece of work is committed if it succeeded on all ranks, and rolled back otherwise, whether a process
// has died or the result is not acceptable. Here the first time step tried is too long.

#include "rod.hpp"

#include <mend.hpp>

#include <array>
#include <cstdio>

int main(int argc, char** argv) {
  return mend::run(argc, argv, [](mend::Session& session) {
    const std::array size{session.size()}, open_ended{0};
    MPI_Comm line = session.cart(size, open_ended);
    Rod rod;
    double time_step = 0.8;
    int taken_back = 0;

    mend::Store& store = session.store();
    store.protect("temperature", rod.temperature);
    store.protect("step", rod.step);
    store.protect("time step", time_step);
    store.protect("taken back", taken_back);
    store.restore();

    while (rod.step < 1000) {
      const bool went_well = mend::transaction(session, [&] {
        bool stable = true;
        for (int i = 0; i < 10; ++i) stable = rod.advance(line, time_step) < 0.4 && stable;
        return stable;  // on this rank; every rank takes part in the same MPI calls, whatever its result
      });
      if (!went_well) {  // everything protected is as it was before, on all ranks
        time_step /= 2;
        ++taken_back;
        store.commit();  // otherwise the next rollback would undo this too
      }
    }
    const double heat = rod.heat(line);
    session.report("heat", heat);
    session.report_hash(rod.temperature);
    if (session.rank().value == 0)
      std::printf("heat %.12f after %d steps, %d taken back\n", heat, rod.step, taken_back);
  });
}
