// Ends mpirun when nobody else does.
//
// The kernel tells mpirun to end when `mend run` is killed (PR_SET_PDEATHSIG), and then nobody is left to see whether
// it does. It may not: it ends its job in a handler of its own, and has been seen to wait for ever for a lock of PMIx.
// So a process of its own waits for the death of `mend run`, gives mpirun time to end, and kills it and what it has
// started.

#pragma once

#include <sys/types.h>

#include <chrono>

namespace mend::jobs {

/// Starts one for `mpirun`, a child of this process. It has no file of this process open, and ends when mpirun does.
/// Returns the new process, a child of this one; -1 if the kernel cannot watch processes (before Linux 5.3), or starts
/// none. Local; no other thread may be running.
pid_t guard(pid_t mpirun, std::chrono::milliseconds patience);

}  // namespace mend::jobs
