// The initial recovery core of a process: at the start of a job, or when it joins one later.

#pragma once

#include "framework/options.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/core/recovery_core.hpp"
#include "framework/recovery/epoch_state.hpp"
#include "framework/spawn/join_info.hpp"

namespace mend {

/// Returns the core of a process that was launched with the job. Throws UsageError if the spares leave no process to
/// work. Local.
RecoveryCore core_at_the_start(const Options& options, const FailureDetector& detector);

/// Returns the core of a process that has joined `epoch_state`, as its last member, during a recovery. `record`: the
/// data from the job. Local.
RecoveryCore core_of_newcomer(const Options& options, const EpochState& epoch_state, const JobRecord& record);

}  // namespace mend
