#pragma once

#include <mpi.h>

#include <unordered_set>

namespace mend {

/// The persistent requests that were started, and that no test has found complete since. MPI says of an inactive
/// request that it is complete, too. Main thread.
inline std::unordered_set<MPI_Request>& started_requests() {
  static auto& all = *new std::unordered_set<MPI_Request>;  // exit handlers may call MPI
  return all;
}

}  // namespace mend
