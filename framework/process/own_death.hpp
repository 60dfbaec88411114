#pragma once

#include "base/ids.hpp"

namespace mend {

/// From now on the other processes are told when this process ends in a way that the runtime does not report: by exit,
/// _exit or quick_exit, with the code, and by std::terminate because a process failure has left a noexcept function.
/// The latter is also written to standard error. After MPI_Init. Local; once in a process.
void announce_own_death(ProcessId self);

/// Ends this with the job: how this process ends does not matter to the others any more. Local.
void stop_announcing_own_death();

}  // namespace mend
