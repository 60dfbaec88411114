// What the application can be blocked in during an epoch: its communicator, the store's, and all that descend from
// them. A failure interrupts whoever waits in one of them.
//
//   derived    made through the session; freed here, one epoch later, so that who still uses one gets an error and not
//              another's communicator
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

  /// The world has this epoch's communicators from now on. Local.
  void begin_epoch() { interrupted_ = false; }
  /// All recover: nothing of this epoch is used any more. Local.
  void end_epoch();

  /// What `factory` makes of the application's communicator, its errors thrown. Collective over the ranks.
  MPI_Comm derive(const std::function<MPI_Comm(MPI_Comm)>& factory);
  /// The application has made `made` of `parent` by MPI itself, and will free it, or is on the way to what derive() is
  /// for: should it descend from this epoch's communicator, nobody stays blocked in it after a failure. Local.
  void follow(MPI_Comm parent, MPI_Comm made);

  /// Revokes all of them, what was derived first, and what is made from now on. Local.
  void interrupt();
  bool interrupted() const { return interrupted_; }
  /// Whether ranks can wait for each other where none of the others belongs.
  bool has_others() const { return !derived_.empty() || !followed_.empty(); }

 private:
  using Comms = std::vector<MPI_Comm>;

  const World& world_;
  bool interrupted_ = false;
  Comms derived_;
  Comms retired_;  // those of the epoch before, revoked
  Comms followed_;
};

}  // namespace mend
