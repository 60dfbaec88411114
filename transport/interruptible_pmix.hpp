// Interrupts waits of the runtime while a process is connected to others.
//
// MPI_Comm_connect and MPI_Comm_accept wait in PMIx_Lookup and PMIx_Connect until the other side does the same. If the
// other side dies first, the runtime does not report it, and they wait for ever (docs/open-mpi.md). So mend defines
// both functions of PMIx itself, and the linker uses these definitions. They forward all calls. While an
// InterruptiblePmix lives, their waits can be interrupted: the MPI call then returns an error.

#pragma once

#include <memory>

namespace mend::transport {

class InterruptiblePmix {
 public:
  /// Makes the calls of the thread that calls MPI interruptible. One object at a time in a process.
  InterruptiblePmix();
  ~InterruptiblePmix();
  InterruptiblePmix(const InterruptiblePmix&) = delete;
  InterruptiblePmix& operator=(const InterruptiblePmix&) = delete;

  /// Interrupts a call that waits, and all later ones. Any thread, during the lifetime of this object.
  void break_off();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace mend::transport
