#pragma once

#include <mpi.h>

#include <unordered_set>

namespace mend {

/// The persistent requests that were started, and that MPI_Test and MPI_Testall have not found complete since. MPI says
/// of an inactive request that it is complete, too. A request that another call completes may stay here, and is found
/// complete once more by a later test. Main thread.
inline std::unordered_set<MPI_Request>& started_requests() {
  static auto& all = *new std::unordered_set<MPI_Request>;  // exit handlers may call MPI
  return all;
}

}  // namespace mend
