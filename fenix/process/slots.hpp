// Slots: the numbers that ranks had at the start of the job, and would have if no process had died before it. If no
// process takes over a rank, its slot becomes empty, and the ranks above it move down; slots never move.
//
//   slot   0 1 2 3        rank 1 dies, nobody takes over:    slot   0 1 2 3
//   rank   0 1 2 3                                           rank   0 - 1 2

#pragma once

#include "framework/recovery_report.hpp"

#include <mpi.h>

#include <optional>
#include <span>
#include <vector>

namespace mend::fenix {

/// Returns the process that now has the rank that `process` had when it died; `process` itself if it lives.
/// Returns nothing if no process took over. Pure.
std::optional<ProcessId> successor_of(ProcessId process, std::span<const RecoveryReport> recoveries);

/// Returns the rank in the resilient communicator of `rank` of `comm`; nothing if it is not in it. Local.
std::optional<int> resilient_rank(MPI_Comm comm, int rank);

}  // namespace mend::fenix
