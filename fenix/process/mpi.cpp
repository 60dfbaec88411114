// MPI functions that programs for Fenix call and in which mend takes part, through MPI's profiling interface: the
// programs initialise and finalise MPI, which mend::run otherwise does. Part of mend::fenix alone.

#include "base/telemetry/job_status.hpp"
#include "base/telemetry/log.hpp"
#include "fenix/process/job.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/process/process_context.hpp"
#include "transport/mpi.hpp"

#include <mpi.h>

namespace mend::fenix {

void wait_for_others() {
  State& now = state();
  if (now.job && now.job->leaves_mpi_alone() && now.farewell) now.job->wait_for_the_others(now.farewell.get());
}

// It is in this file because Fenix_Init needs it: so the linker includes the functions below in every program for
// Fenix, in any order of mend's libraries.
void leave_mpi() {
  State& now = state();
  if (!now.job) return;
  const bool alone = now.job->leaves_mpi_alone();
  now.farewell.release();  // MPI frees it
  if (!is_mpi_finalised()) {
    if (alone) {
      leave_mpi_alone();
    } else {
      PMPI_Finalize();
    }
  }
  now.job.reset();
}

}  // namespace mend::fenix

int MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
}

/// Initialises MPI with the settings that fault tolerance needs.
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  mend::before_mpi_init();
  const int code =
      PMPI_Init_thread(argc, argv, required < MPI_THREAD_FUNNELED ? MPI_THREAD_FUNNELED : required, provided);
  mend::after_mpi_init();
  return code;
}

/// Finalises MPI in a way that does not wait for dead processes. Calls Fenix_Finalize if the program has forgotten it.
/// A process that has not called Fenix_Init meets the other processes here.
int MPI_Finalize() {
  while (mend::fenix::state().active) Fenix_Finalize();
  if (!mend::fenix::state().finalized) {
    if (!mend::process_context().has_run && mend::others_begin_without_this()) {
      constexpr const char* sentence =
          "this process has called MPI_Finalize, and others Fenix_Init: every launched process calls it, before that";
      mend::log::error(sentence);
      mend::job_status::said(sentence);
      mend::job_status::finished(mend::ExitCode::usage);
    }
    return PMPI_Finalize();
  }
  mend::fenix::wait_for_others();
  mend::fenix::leave_mpi();
  return MPI_SUCCESS;
}
