// The ranks of an epoch, for the parts of the store.

#pragma once

#include "agreement/ballot.hpp"
#include "base/ids.hpp"

#include <mpi.h>

#include <exception>
#include <vector>

namespace mend {

struct EpochRanks {
  MPI_Comm comm = MPI_COMM_NULL;  ///< its errors are thrown
  agreement::Ballot* ballot = nullptr;
  Rank self{};
  std::vector<NodeId> nodes;  ///< where each runs

  int count() const { return static_cast<int>(nodes.size()); }
};

/// Thrown where a ballot has told all ranks that a member of this one cannot be packed or filled. Carries what the
/// member has thrown, which the application gets: the same exception met anywhere else is known to this rank alone.
struct AgreedProblem {
  std::exception_ptr problem;
};

}  // namespace mend
