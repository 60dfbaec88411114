// Communicators that were left in a recovery, kept for one epoch.
//
// Another process may still send in one of them: in a collective call that it had begun, or because it has noticed the
// failure later. MPI keeps a message for a communicator that its receiver has freed, and delivers it in the receiver's
// next communicator with the same number. So a number must not be used again before these messages have arrived.

#pragma once

#include "transport/mpi.hpp"

#include <utility>
#include <vector>

namespace mend {

class LeftCommunicators {
 public:
  /// Frees `comm` at the end of the epoch that begins next, or that has begun. `comm` may be null. Local.
  void keep(Communicator&& comm) {
    if (comm) left_.push_back(std::move(comm));
  }
  /// Ends the epoch, because all processes recover. Local.
  void end_epoch() { left_.clear(); }

 private:
  std::vector<Communicator> left_;
};

}  // namespace mend
