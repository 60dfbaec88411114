#pragma once

#include "base/ids.hpp"

namespace mend {

/// From now on, reports to the other processes when this process ends in a way that the runtime does not report: by
/// exit, _exit or quick_exit, with the code, and by std::terminate because a process failure has left a noexcept
/// function. The latter is also written to standard error. After MPI_Init. Local; once in a process.
void announce_own_death(ProcessId self);

/// Ends these reports with the job: the others no longer need to know how this process ends. Local.
void stop_announcing_own_death();

}  // namespace mend
