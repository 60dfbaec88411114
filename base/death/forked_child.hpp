// A process that the application has forked and that continues in the code of its parent, because it was meant to call
// exec or _exit and has not reached that call. It has its parent's rank, sockets and shared memory: other processes
// would take its messages for messages of its parent. So it ends when it calls mend or MPI.

#pragma once

#include <atomic>
#include <string_view>

namespace mend {

/// Makes end_forked_child end the children that this process forks from now on. Local.
void watch_forks();

/// Set in a forked child once watch_forks() was called.
extern std::atomic<bool> is_forked_child;
/// Writes the sentence of end_forked_child(), and ends this process.
[[noreturn]] void end_this_child(std::string_view what);

/// In a forked child: writes "process P, which the program has forked, WHAT: ..." and ends the child by _exit, so that
/// neither destructors nor exit handlers run. In other processes it does nothing, and costs one load. Local.
inline void end_forked_child(std::string_view what) {
  if (is_forked_child.load(std::memory_order_relaxed)) end_this_child(what);
}

}  // namespace mend
