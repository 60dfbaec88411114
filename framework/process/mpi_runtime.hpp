#pragma once

#include <mpi.h>

namespace mend {

/// Steps before and after MPI is initialised, so that this process and the launcher survive deaths. MpiRuntime calls
/// both, late if the application has initialised MPI itself. Only the first call of each has an effect. Local.
void before_mpi_init();
void after_mpi_init();

/// Leaves MPI without waiting for other processes, instead of MPI_Finalize. MpiRuntime does this after leave_alone().
/// Local.
void leave_mpi_alone();

/// Prepares MPI for processes that die. Initialises it, and finalises it in the destructor, unless the caller has
/// initialised it. Every process of the launch must construct one. Throws UsageError if the caller's thread level is
/// too low, or is MPI_THREAD_MULTIPLE, or if the caller has finalised MPI.
class MpiRuntime {
 public:
  MpiRuntime();
  ~MpiRuntime();

  /// Returns true if the library survives deaths; false if its fault tolerance is switched off in a job of several
  /// processes. The same on all of them. Local.
  bool tolerates_failures() const;

  /// Throws UsageError if the job could survive failures, but the user has set another point-to-point layer for the
  /// library than the one that does. mend run refuses that itself, and mpirun does not. The same on all processes.
  /// Local.
  void require_layer_for_failures() const;

  /// Has the destructor leave MPI without waiting for other processes, because processes have died. Either all living
  /// processes of the launch call this, or none. Local.
  void leave_alone() { alone_ = true; }

  MpiRuntime(const MpiRuntime&) = delete;
  MpiRuntime& operator=(const MpiRuntime&) = delete;

 private:
  bool ours_ = false;
  bool alone_ = false;
};

}  // namespace mend
