// The communicators in which the application can be blocked during an epoch: its own, the store's, and all that descend
// from them. A failure interrupts all processes that wait in one of them.
//
//   derived    made through the session; freed here one epoch later, so that a program that still uses one gets an
//   error
//              and not another communicator
//   followed   made by MPI itself; the application frees them
//
// Each epoch's communicators are revoked once by each process and belong to that epoch alone, so a late revocation
// cannot hit a newer one.

#pragma once

#include "framework/recovery/world.hpp"

#include <mpi.h>

#include <functional>
#include <vector>

namespace mend {

class EpochCommunicators {
 public:
  /// `world` outlives it.
  explicit EpochCommunicators(const World& world) : world_(world) {}
  ~EpochCommunicators();
  EpochCommunicators(const EpochCommunicators&) = delete;
  EpochCommunicators& operator=(const EpochCommunicators&) = delete;

  /// The world has the communicators of a new epoch. Local.
  void begin_epoch() { interrupted_ = false; }
  /// All processes recover: the communicators of this epoch are not used any more. Local.
  void end_epoch();

  /// Returns what `factory` makes of the application's communicator; its errors are thrown. Collective over the ranks.
  MPI_Comm derive(const std::function<MPI_Comm(MPI_Comm)>& factory);
  /// The application has made `made` from `parent` by MPI itself, and frees it. If it descends from this epoch's
  /// communicators, a failure interrupts the processes that wait in it. Does nothing for MPI_COMM_NULL. Local.
  void follow(MPI_Comm parent, MPI_Comm made);

  /// Revokes all of them, derived ones first, and those that are made from now on. Local.
  void interrupt();
  bool interrupted() const { return interrupted_; }
  /// Returns true if there are communicators in which only some of the ranks are.
  bool has_others() const { return !derived_.empty() || !followed_.empty(); }

 private:
  using Comms = std::vector<MPI_Comm>;

  const World& world_;
  bool interrupted_ = false;
  Comms derived_;
  Comms retired_;  // of the epoch before; revoked
  Comms followed_;
};

}  // namespace mend
