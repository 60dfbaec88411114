#pragma once

#include <functional>
#include <utility>

namespace mend {

/// Has `work` called again and again while the main thread waits in MPI, from inside the call; an empty one: nothing.
/// It may revoke communicators, as messages that arrive there do, and must not wait, nor throw. Returns what was called
/// before. Main thread, after MPI_Init. Without effect where the MPI library has no such door.
std::function<void()> while_mpi_waits(std::function<void()> work);

/// As long as it lives, `work` is what is called.
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
