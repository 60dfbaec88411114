#pragma once

#include "base/ids.hpp"

namespace mend {

/// From now on the others are told when this process ends in a way that the runtime cannot tell them of: by exit, _exit
/// or quick_exit, with which code, and by std::terminate because a process failure has left a noexcept function. The
/// latter is said on standard error too. After MPI_Init. Local; once in a process.
void announce_own_death(ProcessId self);

/// The job is over: it is nobody's concern any more how this process ends. Local.
void keep_own_death_to_oneself();

}  // namespace mend
