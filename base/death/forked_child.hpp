// A process that the application has forked and that goes on in the code of its parent, because it was meant to call
// exec or _exit and did not come there. It has its parent's rank, sockets and shared memory: what it sends to others
// would be taken for messages of its parent. So it ends where it comes to mend or MPI.

#pragma once

#include <string_view>

namespace mend {

/// Has children that this process forks from now on ended by end_forked_child. Local.
void watch_forks();

/// In a forked child: writes "process P, which the program has forked, WHAT: ..." and ends the child by _exit, so that
/// neither destructors nor exit handlers run. In other processes it does nothing, and costs one load. Local.
void end_forked_child(std::string_view what);

}  // namespace mend
