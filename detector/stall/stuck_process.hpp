// Finds a process that is stuck in the MPI library: it waits there on behalf of mend, for an event that has happened,
// or will not happen. Defects of the library cause that when processes die (docs/open-mpi.md). A stuck process never
// returns, and the others wait for it, so it is declared dead. Pure.
//
// A process is held if it has been in one call of MPI for longer than the limit, and nothing has moved in it. No
// process is considered stuck while any process computes, is not in a call of MPI, or does not answer: the others may
// wait for that one. If all are held, the one that is behind the others (the lowest turn,
// base/telemetry/library_wait.hpp) is stuck
//   - in an agreement: all others have come to it, or have its result;
//   - in another call, if all others are in the same call of mend;
//   - in a call of mend or of the program, if another process has come to the recovery: calls that a failure interrupts
//     end;
//   - as a spare that was called and did not come.
// If ranks wait for each other in calls that do not belong together, that is a mistake of the program, and no process
// is stuck. If several processes are equally far behind, one whose library does not poll for messages is chosen,
// otherwise the one with the highest number. If the choice was wrong, the job stalls again after the recovery, with one
// process fewer. So the job ends or continues in every case.
//
// Under local rollback, ranks may wait for each other because one has rolled back since the last commit, and does not
// repeat the same calls. Then all roll back. A rank that polls, as with MPI_Test, and computes nothing waits too.

#pragma once

#include "detector/stall/stall_report.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace mend::detector {

/// Returns the process that is stuck, if one is. `answers`: of all living processes. Pure.
std::optional<ProcessId> find_stuck(const Answers& answers, std::chrono::milliseconds limit);

/// Returns the process with the lowest rank if all ranks wait in vain since one has rolled back under local rollback:
/// for `limit`, every rank has been in one call without a move, or has polled without completing a request, and none is
/// in a recovery. `answers`: of all living processes. Pure.
std::optional<ProcessId> find_wait_in_vain(const Answers& answers, std::chrono::milliseconds limit);

/// Returns "rank 2 (process 5) is stuck in a recovery: nothing has moved for 15 s in the MPI library, where all others
/// wait for it (--mend-stuck-limit)". Pure.
std::string describe_stuck(ProcessId process, const Whereabouts& where);

}  // namespace mend::detector
