// The ranks of an epoch, for the parts of the store.

#pragma once

#include "agreement/ballot.hpp"
#include "base/ids.hpp"

#include <mpi.h>

#include <vector>

namespace mend {

struct EpochRanks {
  MPI_Comm comm = MPI_COMM_NULL;  ///< its errors are thrown
  agreement::Ballot* ballot = nullptr;
  Rank self{};
  std::vector<NodeId> nodes;  ///< where each runs

  int count() const { return static_cast<int>(nodes.size()); }
};

}  // namespace mend
