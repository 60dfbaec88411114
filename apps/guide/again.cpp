// Re-entry: after a failure the body is left by an exception, and entered again on every rank.

#include "rod.hpp"

#include <mend.hpp>

#include <array>
#include <cstdio>

int main(int argc, char** argv) {
  return mend::run(argc, argv, [](mend::Session& session) {
    const std::array size{session.size()}, open_ended{0};
    MPI_Comm line = session.cart(size, open_ended);
    Rod rod;

    mend::Store& store = session.store();
    store.protect("temperature", rod.temperature);
    store.protect("step", rod.step);
    store.restore();  // does nothing when nothing was committed yet

    while (rod.step < 1000) {
      rod.advance(line);
      if (session.commit_due()) store.commit();
    }
    const double heat = rod.heat(line);
    session.report("heat", heat);
    session.report_hash(rod.temperature);
    if (session.rank().value == 0) std::printf("heat %.12f after %d steps\n", heat, rod.step);
  });
}
