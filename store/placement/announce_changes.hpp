#pragma once

#include "store/placement/combination.hpp"
#include "store/placement/placement.hpp"
#include "store/snapshot/snapshot.hpp"

#include <mpi.h>

#include <span>
#include <vector>

namespace mend {

/// Exchanges sizes and changes of snapshots before a commit sends data: this rank sends the size of its snapshot (in
/// `sizes`) and its changes (`mine`, with Changes::lacks_older_blocks) to all ranks with which it shares one of
/// `stripes`, and receives theirs. Returns the changes by rank, and completes `sizes`; the entries of other ranks have
/// no meaning. Collective over the ranks of the stripes. Throws ProcessFailure, EnvironmentError.
std::vector<Changes> announce_changes(std::span<const Stripe> stripes, MPI_Comm comm, Changes mine, Sizes& sizes);

}  // namespace mend
