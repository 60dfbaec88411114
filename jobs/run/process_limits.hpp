// How many processes of a job this machine lets start: asked before anything is, for a launch that runs into a limit
// half-way ends in messages of others about something else.

#pragma once

#include <optional>
#include <string>

namespace mend::jobs {

/// What bounds the processes of a user here; nothing where nothing does.
struct ProcessLimits {
  std::optional<long> tasks;       ///< processes and threads, of the kernel, the control group and the user together
  std::string tasks_from{};        ///< which of these is the least
  std::optional<long> open_files;  ///< of mpirun
};

/// Local.
ProcessLimits process_limits();

/// Why so many processes of a job cannot be started, in a sentence; empty when they can. Pure.
std::string objection_to(long processes, const ProcessLimits& limits);

}  // namespace mend::jobs
