// Heat in a plate whose rows are divided among the ranks: the solver of the tutorial. It is plain MPI and Kokkos, does
// not depend on mend, and is the same in all six steps.

#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <span>

struct Plate {
  static constexpr int width = 240;
  static constexpr int height = 240;  // of the whole plate, in rows; a multiple of the number of ranks
  static constexpr int last_step = 2000;
  using Field = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  using Rows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;

  MPI_Comm comm;
  int rank = 0;
  int size = 0;
  int rows = 0;  // of this rank
  Field temperature, next;
  int step = 0;

  explicit Plate(MPI_Comm all) {
    use(all);
    rows = height / size;
    temperature = Field("temperature", rows + 2, width);  // with a neighbour's row at each end
    next = Field("next", rows + 2, width);
  }

  void use(MPI_Comm all) {
    comm = all;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }

  /// One explicit time step.
  void advance() {
    exchange_rows();
    const Field from = temperature, to = next;
    Kokkos::parallel_for(
        "diffuse", Rows(1, rows + 1), KOKKOS_LAMBDA(const int i) {
          for (int j = 1; j < width - 1; ++j)
            to(i, j) = 0.25 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1));
        });
    Kokkos::deep_copy(temperature, next);
    ++step;
    if (rank == 0 && step % 500 == 0) {
      std::printf("step %d\n", step);
      std::fflush(stdout);
    }
  }

  /// The rows of this rank, without those of its neighbours.
  std::span<const double> own() const { return {&temperature(1, 0), static_cast<std::size_t>(rows * width)}; }

  /// The heat of the whole plate, on all ranks.
  double heat() const {
    double mine = 0, all = 0;
    for (const double cell : own()) mine += cell;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    return all;
  }

 private:
  void exchange_rows() {
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    const auto row = [&](int i) { return &temperature(i, 0); };
    MPI_Sendrecv(row(1), width, MPI_DOUBLE, above, 0, row(rows + 1), width, MPI_DOUBLE, below, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(rows), width, MPI_DOUBLE, below, 1, row(0), width, MPI_DOUBLE, above, 1, comm, MPI_STATUS_IGNORE);
    if (rank == 0) Kokkos::deep_copy(Kokkos::subview(temperature, 0, Kokkos::ALL), 1.0);  // heated at its upper edge
  }
};
