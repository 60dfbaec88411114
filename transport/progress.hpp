#pragma once

#include <functional>
#include <utility>

namespace mend {

/// Calls `work` repeatedly while the main thread waits in MPI, from inside the MPI call. An empty function ends that.
/// `work` may revoke communicators, as arriving messages do; it must not wait or throw. Returns the previous function.
/// Main thread, after MPI_Init. No effect if the MPI library has no progress callbacks.
std::function<void()> while_mpi_waits(std::function<void()> work);

/// Calls `work` in this way during its lifetime.
class WhileMpiWaits {
 public:
  explicit WhileMpiWaits(std::function<void()> work) : before_(while_mpi_waits(std::move(work))) {}
  ~WhileMpiWaits() { while_mpi_waits(std::move(before_)); }
  WhileMpiWaits(const WhileMpiWaits&) = delete;
  WhileMpiWaits& operator=(const WhileMpiWaits&) = delete;

 private:
  std::function<void()> before_;
};

}  // namespace mend
