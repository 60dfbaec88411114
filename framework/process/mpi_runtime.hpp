#pragma once

#include <mpi.h>

namespace mend {

/// What a process does before and after it initialises MPI, so that it and the launcher can bear deaths. MpiRuntime
/// does both, and calls them late where the application has initialised MPI itself. Done once, however often it is
/// called. Local.
void before_mpi_init();
void after_mpi_init();

/// Leaves MPI without waiting for anybody, instead of MPI_Finalize: what MpiRuntime does after leave_alone(). Local.
void leave_mpi_alone();

/// MPI, made ready for processes that die: initialised here (and then finalised by the destructor) unless the caller
/// has done so. Every process of the launch must construct one. Throws UsageError when the caller's thread level is
/// too low, or is MPI_THREAD_MULTIPLE.
class MpiRuntime {
 public:
  MpiRuntime();
  ~MpiRuntime();

  /// Whether deaths can be survived: false when the library has its fault tolerance switched off in a job of several
  /// processes. The same in all of them. Local.
  bool tolerates_failures() const;

  /// Has the destructor leave MPI without waiting for anybody, because processes have died. Either all processes of the
  /// launch that live say this, or none. Local.
  void leave_alone() { alone_ = true; }

  MpiRuntime(const MpiRuntime&) = delete;
  MpiRuntime& operator=(const MpiRuntime&) = delete;

 private:
  bool ours_ = false;
  bool alone_ = false;
};

}  // namespace mend
