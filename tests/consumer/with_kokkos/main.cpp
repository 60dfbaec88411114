// Adds up steps in a View; `count kill` loses rank 1 at step 5.

#include <Kokkos_Core.hpp>
#include <mend.hpp>

#include <csignal>
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  const bool kill = argc > 1 && std::string_view(argv[1]) == "kill";
  return mend::run(argc, argv, [&](mend::Session& session) {
    Kokkos::View<long*> state("steps and total", 2);
    const auto here = Kokkos::create_mirror_view(state);
    mend::Store& store = session.store();
    store.protect("state", state);
    store.restore();
    Kokkos::deep_copy(here, state);
    int rank = 0;
    MPI_Comm_rank(session.comm(), &rank);
    while (here(0) < 10) {
      if (kill && session.role() == mend::Role::initial && rank == 1 && here(0) == 5) std::raise(SIGKILL);
      const long mine = here(0) + rank;
      long sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
      here(1) += sum;
      here(0) += 1;
      Kokkos::deep_copy(state, here);
      if (session.commit_due()) store.commit();
    }
    if (rank == 0) std::printf("epoch %u, total %ld\n", session.epoch().value, here(1));
  });
}
