// The communicators in which the application can be blocked during an epoch: its own, the store's, and all derived from
// them. A failure interrupts all processes that wait in one of them.
//
//   derived    made through the session; freed here one epoch later, so that a program that still uses one gets an
//              error and not another communicator
//   followed   made by MPI itself; the application frees them. One that it frees after a failure, as in a destructor,
//              is kept like a derived one: another rank that has not noticed the failure may still send in it, and
//              MPI would deliver the message in the next communicator with the same number
//   own        made by an interface that the application uses; the interface frees it
//
// Each epoch's communicators are revoked once by each process and belong to that epoch alone, so a late revocation
// cannot hit a newer one.

#pragma once

#include "framework/recovery/epoch_state.hpp"

#include <mpi.h>

#include <functional>
#include <vector>

namespace mend {

class EpochCommunicators {
 public:
  /// `epoch_state` must outlive this object.
  explicit EpochCommunicators(const EpochState& epoch_state) : epoch_state_(epoch_state) {}
  ~EpochCommunicators();
  EpochCommunicators(const EpochCommunicators&) = delete;
  EpochCommunicators& operator=(const EpochCommunicators&) = delete;

  /// Begins an epoch with the communicators of the epoch state. Local.
  void begin_epoch() { interrupted_ = false; }
  /// Ends the epoch: its communicators are not used any more. All processes recover. Local.
  void end_epoch();

  /// Returns the communicator that `factory` makes of the application's; its errors are thrown. Collective over the
  /// ranks.
  MPI_Comm derive(const std::function<MPI_Comm(MPI_Comm)>& factory);
  /// Records that the application has made `made` from `parent` by MPI itself; the application frees it. If it descends
  /// from this epoch's communicators, a failure interrupts the processes that wait in it. Does nothing for
  /// MPI_COMM_NULL. Local.
  void follow(MPI_Comm parent, MPI_Comm made);
  /// Takes over a communicator that the application frees, if it is one of this epoch and the epoch was interrupted.
  /// Returns true in that case. Local.
  bool keep_freed(MPI_Comm comm);

  /// Records that `comm` is interrupted with the others of this epoch. At most one in an epoch. Local.
  void take_own(MPI_Comm comm);

  /// Revokes all communicators of the epoch, derived ones first, and those that are made from now on. Local.
  void interrupt();
  bool interrupted() const { return interrupted_; }
  /// Returns true if there are derived or followed communicators, which may contain only some of the ranks.
  bool has_others() const { return !derived_.empty() || !followed_.empty(); }

 private:
  using Comms = std::vector<MPI_Comm>;

  const EpochState& epoch_state_;
  bool interrupted_ = false;
  Comms derived_;
  Comms retired_;  // derived in the epoch before; revoked
  Comms followed_;
  MPI_Comm own_ = MPI_COMM_NULL;
};

}  // namespace mend
