// Global sums with the same result, to the last bit, whatever fails during the run.
//
// MPI_Allreduce may add in any order, and a repaired communicator may choose another order than the first one did,
// because its processes are on other cores and nodes. So the partial sums are gathered, and every rank adds them in
// rank order.

#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

namespace apps {

/// Returns the sums over the ranks of `comm` of each of the N partial sums, added in rank order: the same bits on every
/// rank and on every communicator of the same size. Collective over `comm`.
template <std::size_t N>
std::array<double, N> ordered_sum(MPI_Comm comm, const std::array<double, N>& partial) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<std::array<double, N>> partials(static_cast<std::size_t>(ranks));
  MPI_Allgather(partial.data(), int{N}, MPI_DOUBLE, partials.data(), int{N}, MPI_DOUBLE, comm);

  std::array<double, N> total{};
  for (const auto& of_rank : partials) {
    for (std::size_t i = 0; i < N; ++i) total[i] += of_rank[i];
  }
  return total;
}

/// The same for one sum.
inline double ordered_sum(MPI_Comm comm, double partial) { return ordered_sum(comm, std::array{partial})[0]; }

}  // namespace apps
