#pragma once

#include "store/placement/combination.hpp"
#include "store/placement/placement.hpp"
#include "store/snapshot/snapshot.hpp"

#include <mpi.h>

#include <span>
#include <vector>

namespace mend {

/// Before a commit sends data: tells everyone with whom this rank has a part in one of `stripes` how large its snapshot
/// is, as `sizes` says, and what of it has changed, and learns the same of theirs. Collective over the ranks of those
/// stripes. Returns the changes by rank, and completes `sizes`; of other ranks neither means anything. Throws
/// ProcessFailure, EnvironmentError.
std::vector<Changes> announce_changes(std::span<const Stripe> stripes, MPI_Comm comm, Changes mine, Sizes& sizes);

}  // namespace mend
