#include "framework/recovery/leave_job.hpp"

#include "base/clock.hpp"
#include "transport/mpi.hpp"

#include <mpi-ext.h>
#include <mpi.h>

namespace mend {

/// A process that knows the end leaves, which the runtime does not report as a death. If it died before it passed on
/// the result, no process may be left to ask. So MPI is told not to wait for processes that are gone.
void wait_for_the_others(MPI_Comm comm, FailureDetector& detector) {
  const ErrorsReturned quiet;
  constexpr Seconds now_and_then{1e-3};
  int nothing = 0;
  int over = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPIX_Comm_iagree(comm, &nothing, &request);
  for (Stopwatch since; over == 0;) {
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    if (since.elapsed() < now_and_then) continue;
    detector.release_dead_processes();
    since = Stopwatch();
  }
}

bool leave_job(const EpochState& epoch_state, FailureDetector& detector) {
  int nothing = 0;
  const bool known_to_all = static_cast<std::uint32_t>(epoch_state.base.size()) < epoch_state.processes;
  if (!known_to_all) return MPIX_Comm_agree(epoch_state.base.get(), &nothing) != MPI_SUCCESS;
  wait_for_the_others(epoch_state.base.get(), detector);
  return true;
}

}  // namespace mend
