// Checks the number of processes that this machine allows a job. The check comes before the launch, because a launch
// that reaches a limit half-way ends with misleading error messages.

#pragma once

#include <optional>
#include <string>

namespace mend::jobs {

/// The limits on the processes of a user here. A member is empty if there is no limit.
struct ProcessLimits {
  std::optional<long> tasks;       ///< processes and threads: the least of the limits of the kernel, the control group
                                   ///< and the user
  std::string tasks_from{};        ///< which of the three is the least
  std::optional<long> open_files;  ///< of mpirun
};

/// Local.
ProcessLimits process_limits();

/// Returns a sentence that says why this number of processes of a job cannot be started; empty if it can. Pure.
std::string objection_to(long processes, const ProcessLimits& limits);

}  // namespace mend::jobs
