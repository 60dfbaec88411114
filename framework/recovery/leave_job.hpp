// The last thing that processes do together when a job has come to its agreed end.

#pragma once

#include "framework/process/failure_detector.hpp"
#include "framework/recovery/world.hpp"

namespace mend {

/// Returns true if anybody who has ever been in the job is not here any more: the same everywhere. In that case it
/// returns when nobody needs this process's answers any more. Collective over the base of `world`.
bool leave_job(const World& world, FailureDetector& detector);

}  // namespace mend
