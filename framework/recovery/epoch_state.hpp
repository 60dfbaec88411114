// The communicators of an epoch, and how they are made while processes may die.
//
// The base contains every living process, including spares, and is never revoked, so all processes can always meet
// there. An epoch's communicators are made from it:
//
//   shrink(base) = candidate       all processes not known to be dead
//   agree on base                  did shrink succeed everywhere? if not, again
//   split(candidate) = application the ranks in their order, and a second communicator for the store
//   agree on candidate             did the splits succeed everywhere, and did no process die? if not, again
//   candidate becomes the base
//
// The recovery core (framework/recovery/core/recovery_core.hpp) decides these steps; this class carries them out.
//
// A process that fails in a split revokes the candidate, so that no process waits for it. The base is intact, and all
// processes return to it. Every round is decided by an agreement, so all repeat together; each round is caused by at
// least one more death, so the rounds end.

#pragma once

#include "agreement/agreement.hpp"
#include "agreement/ballot.hpp"
#include "framework/epoch/left_communicators.hpp"
#include "framework/recovery/agreement_provider.hpp"
#include "framework/recovery/core/recovery_core.hpp"
#include "spares/roster.hpp"
#include "transport/mpi.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mend {

/// An epoch: its communicators, its roster, and the agreements of its processes.
struct EpochState {
  Communicator base;                               ///< all living processes; never revoked; errors are returned
  std::vector<ProcessId> members;                  ///< of base, by rank
  std::unique_ptr<agreement::Agreement> everyone;  ///< agreement over base
  Communicator application;                        ///< the ranks in order; null on spares; errors are thrown
  Communicator store;                              ///< the same processes again, for the store's messages
  std::unique_ptr<agreement::Ballot> ballot;       ///< of the ranks; null on spares
  Roster roster;                                   ///< its ranks may be vacant if there is no application communicator
  Epoch epoch;
  std::uint32_t processes = 0;  ///< how many process numbers were given; the next number
};

/// Makes the communicators of an epoch, as the recovery core decides. Communicators that are being made are the
/// candidate.
class EpochStateMaker {
 public:
  /// The arguments must outlive this object. An epoch state without a base is made from MPI_COMM_WORLD. `left` gets the
  /// communicators that are not used any more.
  EpochStateMaker(EpochState& epoch_state, AgreementProvider& agreements, LeftCommunicators& left);

  /// Forgets the last candidate, and numbers the groups of the next. Every process must number all groups. Local.
  void begin_candidate();
  /// Returns when every living member of the base has called it. Collective over these members.
  void settle();
  /// Makes the candidate's base from the living processes. Collective over the base.
  recovery::Shrunk shrink();
  /// Collective over the base, or over the candidate, for which shrink() must have succeeded everywhere.
  recovery::Agreed agree(recovery::Among among, std::uint32_t contribution);
  /// Makes the communicators of the ranks. `rank`: of this process, if any. Collective over the candidate. Throws any
  /// error that is not a process failure.
  recovery::SplitEnded split(std::optional<Rank> rank);
  /// Interrupts the processes that wait in the candidate. Local.
  void interrupt();
  /// Makes the candidate the communicators of the epoch, with the members of `position`. `complete`: every rank has a
  /// process. Local.
  void adopt(const recovery::Position& position, bool complete);
  /// Replaces the library's agreement, with which the communicators of the first epoch were made, by the provider's
  /// protocol. Collective.
  void found();

 private:
  struct Candidate {
    agreement::GroupId base_group;
    agreement::GroupId ranks_group;
    Communicator base;
    std::vector<ProcessId> members;
    std::unique_ptr<agreement::Agreement> everyone;
    Communicator application;
    Communicator store;
  };

  void begin_ballot(agreement::GroupId id);
  MPI_Comm base() const { return epoch_state_.base ? epoch_state_.base.get() : MPI_COMM_WORLD; }

  EpochState& epoch_state_;
  AgreementProvider& agreements_;
  LeftCommunicators& left_;
  Candidate candidate_;
};

}  // namespace mend
