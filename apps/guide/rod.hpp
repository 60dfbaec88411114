// Heat along a rod that is divided among the ranks: the work of an ordinary MPI program, independent of mend.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

struct Rod {
  static constexpr std::size_t cells = 100;  // of each rank

  std::vector<double> temperature = std::vector<double>(cells + 2, 0.0);  // with a neighbour's cell at each end
  int step = 0;

  /// One explicit time step; `line` is a Cartesian communicator of one dimension. Returns the largest change here.
  double advance(MPI_Comm line, double time_step = 0.25) {
    std::vector<double>& t = temperature;
    int left = 0, right = 0;
    MPI_Cart_shift(line, 0, 1, &left, &right);
    MPI_Sendrecv(&t[1], 1, MPI_DOUBLE, left, 0, &t[cells + 1], 1, MPI_DOUBLE, right, 0, line, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&t[cells], 1, MPI_DOUBLE, right, 1, &t[0], 1, MPI_DOUBLE, left, 1, line, MPI_STATUS_IGNORE);
    if (left == MPI_PROC_NULL) t[0] = 1;  // the rod is heated at its left end
    double largest = 0;
    double before = t[0];
    for (std::size_t i = 1; i <= cells; ++i) {
      const double change = time_step * (before - 2 * t[i] + t[i + 1]);
      before = t[i];
      t[i] += change;
      if (change > largest) largest = change;
    }
    ++step;
    return largest;
  }

  /// The heat of the whole rod, on rank 0.
  double heat(MPI_Comm line) const {
    double mine = 0, all = 0;
    for (std::size_t i = 1; i <= cells; ++i) mine += temperature[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, line);
    return all;
  }
};
