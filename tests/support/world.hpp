// Shared functions of tests in which every rank of MPI_COMM_WORLD takes part.

#pragma once

#include "transport/mpi.hpp"

#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

namespace support {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// A communicator of all ranks whose errors are thrown. Collective.
inline mend::Communicator throwing_world() {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  mend::throw_errors_of(made);
  return mend::Communicator(made);
}

/// Ends this process as kill -9 does.
[[noreturn]] inline void die() {
  std::raise(SIGKILL);
  std::abort();  // not reached
}

/// Calls `step` until it returns true. Returns false if that takes too long.
bool eventually(auto step) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!step()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return true;
}

}  // namespace support
