// Heat spreading along a ring of ranks: an ordinary MPI class that does not handle failures.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

class Heat {
 public:
  explicit Heat(MPI_Comm comm) : temperature(64 + 2), comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    for (std::size_t cell = 1; cell <= cells(); ++cell) {
      temperature[cell] = static_cast<double>((static_cast<std::size_t>(rank_) * cells() + cell) % 17);
    }
  }

  void advance() {
    const int left = (rank_ + size_ - 1) % size_;
    const int right = (rank_ + 1) % size_;
    auto& t = temperature;
    MPI_Sendrecv(&t[1], 1, MPI_DOUBLE, left, 0, &t[cells() + 1], 1, MPI_DOUBLE, right, 0, comm_, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&t[cells()], 1, MPI_DOUBLE, right, 1, &t[0], 1, MPI_DOUBLE, left, 1, comm_, MPI_STATUS_IGNORE);
    std::vector<double> next = t;
    for (std::size_t cell = 1; cell <= cells(); ++cell) {
      next[cell] = t[cell] + 0.25 * (t[cell - 1] - 2 * t[cell] + t[cell + 1]);
    }
    t.assign(next.begin(), next.end());  // not reallocated, because it is protected
    ++step;
  }

  /// A weighted sum of all cells, on rank 0, so that no cell can be lost unnoticed.
  double fingerprint() const {
    double mine = 0;
    for (std::size_t cell = 1; cell <= cells(); ++cell) {
      mine += temperature[cell] * static_cast<double>(static_cast<std::size_t>(rank_) * cells() + cell);
    }
    std::vector<double> all(static_cast<std::size_t>(size_));
    MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, comm_);
    double sum = 0;
    for (const double part : all) sum += part;
    return sum;
  }

  std::vector<double> temperature;  ///< with a neighbour's cell at each end
  int step = 0;

 private:
  std::size_t cells() const { return temperature.size() - 2; }

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
};
