// Ends mpirun if no other process does.
//
// The kernel tells mpirun to end when `mend run` is killed (PR_SET_PDEATHSIG), and then no process is left to check
// whether mpirun ends. It may hang: it ends its job in a handler of its own, and was seen to wait for ever for a lock
// of PMIx. So a separate process waits for the death of `mend run`, gives mpirun time to end, and kills it and the
// processes that it has started.

#pragma once

#include <sys/types.h>

#include <chrono>

namespace mend::jobs {

/// Starts a guard for `mpirun`, a child of this process. It has no file of this process open, and ends when mpirun
/// does. Returns the new process, a child of this one; -1 if the kernel cannot watch processes (before Linux 5.3), or
/// cannot start one. Local; no other thread may be running.
pid_t guard(pid_t mpirun, std::chrono::milliseconds limit);

}  // namespace mend::jobs
