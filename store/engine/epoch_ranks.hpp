// The ranks of an epoch, for the parts of the store.

#pragma once

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "base/ids.hpp"

#include <mpi.h>

#include <exception>
#include <vector>

namespace mend {

struct EpochRanks {
  MPI_Comm comm = MPI_COMM_NULL;  ///< its errors are thrown
  agreement::Ballot* ballot = nullptr;
  Rank self{};
  std::vector<NodeId> nodes;  ///< the node of each rank

  int count() const { return static_cast<int>(nodes.size()); }
};

/// Thrown after a ballot has told all ranks that a member of this rank cannot be packed or filled. Carries the
/// exception of the member, which the application gets. The same exception from elsewhere is known to this rank only.
struct AgreedProblem {
  std::exception_ptr problem;
};

/// An EnvironmentError that all ranks have alike, because a ballot has refused the commit. Nothing was committed, and
/// the program may catch it and go on.
class RefusedCommit : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace mend
