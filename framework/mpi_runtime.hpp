#pragma once

#include <mpi.h>

namespace mend {

/// MPI, made ready for processes that die: initialised here (and then finalised by the destructor) unless the caller
/// has done so. Every process of the launch must construct one. Throws UsageError when the caller's thread level is
/// too low, EnvironmentError when the MPI library has its fault tolerance switched off in a job of several processes.
class MpiRuntime {
 public:
  MpiRuntime();
  ~MpiRuntime();
  MpiRuntime(const MpiRuntime&) = delete;
  MpiRuntime& operator=(const MpiRuntime&) = delete;

 private:
  bool ours_ = false;
};

}  // namespace mend
