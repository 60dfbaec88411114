#pragma once

#include "base/ids.hpp"
#include "store/combination.hpp"

#include <mpi.h>

#include <functional>
#include <span>

namespace mend {

/// Where a block lies in this process: to be read, or to be written when it is a target.
using FindBlock = std::function<std::span<std::byte>(const Block&)>;

/// Carries out what of `work` concerns this rank. Collective over the ranks of `comm` that have a part in it, who must
/// all have its steps in the same order; no target may be a source of the same work. Copies go straight from where they
/// lie to where they shall lie. Else what comes from others is combined a slice at a time, while the next slices are
/// under way, so that little memory is needed beside the blocks. Calls `under_way` when messages are. Throws ProcessFailure,
/// EnvironmentError.
void carry_out(std::span<const Combination> work, MPI_Comm comm, const FindBlock& find, const std::function<void()>& under_way);

}  // namespace mend
