// The last collective step of a job, after its end has been agreed.

#pragma once

#include "framework/process/failure_detector.hpp"
#include "framework/recovery/epoch_state.hpp"

#include <mpi.h>

namespace mend {

/// Returns true if any process that was ever in the job is gone; the same on all processes. In that case it returns
/// only when no other process needs this one's answers. Collective over the base of `epoch_state`.
bool leave_job(const EpochState& epoch_state, FailureDetector& detector);

/// Returns when all processes of `comm` have called this or are gone, and none needs this one's answers any more.
/// After the end of the detection. Collective over the living processes of `comm`.
void wait_for_the_others(MPI_Comm comm, FailureDetector& detector);

}  // namespace mend
