// The last collective step of a job, after its end has been agreed.

#pragma once

#include "framework/process/failure_detector.hpp"
#include "framework/recovery/world.hpp"

namespace mend {

/// Returns true if any process that was ever in the job is gone; the same on all processes. In that case it returns
/// only when no other process needs this one's answers. Collective over the base of `world`.
bool leave_job(const World& world, FailureDetector& detector);

}  // namespace mend
