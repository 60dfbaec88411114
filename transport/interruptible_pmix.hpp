// A way out of the runtime's waits while a process is connected to others.
//
// MPI_Comm_connect and MPI_Comm_accept wait in PMIx_Lookup and PMIx_Connect for the other side to do the same. Should
// it die before it does, the runtime does not say so, and they wait for ever (docs/open-mpi.md). So mend puts itself
// between MPI and PMIx: both calls are defined here too, and the linker takes ours. They hand on what they are asked,
// and, while a InterruptiblePmix lives, wait in a way that can be broken off: MPI's call then returns an error.

#pragma once

#include <memory>

namespace mend::transport {

class InterruptiblePmix {
 public:
  /// From now on the calls of the thread that MPI is called from are breakable. One at a time in a process.
  InterruptiblePmix();
  ~InterruptiblePmix();
  InterruptiblePmix(const InterruptiblePmix&) = delete;
  InterruptiblePmix& operator=(const InterruptiblePmix&) = delete;

  /// Ends a call that waits, and each that would begin to. Any thread, as long as this lives.
  void break_off();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace mend::transport
