// The communicators of one epoch, and how they are made when processes may die at any moment of making them.
//
// One base spans every living process, spares too, and is never revoked: it is where all can still meet. From it an
// epoch's communicators are made:
//
//   shrink(base) = candidate       everyone not known dead
//   agree on base                  did shrink succeed everywhere? if not, again
//   split(candidate) = application the ranks in their order, and a second one for the store
//   agree on candidate             did the splits succeed everywhere, and nobody die meanwhile? if not, again
//   candidate becomes the base
//
// What comes next is decided by the recovery core (framework/recovery/core.hpp); here it is done.
//
// A process that fails in a split revokes the candidate, so that nobody waits for it in vain; the base below stays
// whole, and all turn back to it. Every turn is decided by an agreement, so all turn together; each turn is caused
// by at least one more death, so the turning ends.

#pragma once

#include "agreement/agreement.hpp"
#include "agreement/ballot.hpp"
#include "framework/recovery/agreement_provider.hpp"
#include "framework/recovery/core.hpp"
#include "spares/roster.hpp"
#include "transport/mpi.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mend {

struct World {
  Communicator base;                               ///< everyone living; never revoked; errors are returned
  std::vector<ProcessId> members;                  ///< of base, by rank
  std::unique_ptr<agreement::Agreement> everyone;  ///< agreement over base
  Communicator application;                        ///< the ranks in order; null on spares; errors are thrown
  Communicator store;                              ///< the same processes again, for the store's messages
  std::unique_ptr<agreement::Ballot> ballot;       ///< of the ranks; null on spares
  Roster roster;  ///< its ranks may be vacant, while there is no application communicator
  Epoch epoch;
  std::uint32_t processes = 0;  ///< how many numbers were ever given; the next one's
};

/// Makes the communicators of an epoch, as the recovery core decides. What is under way is the candidate.
class WorldMaker {
 public:
  /// `world` and `agreements` outlive it. A world that has no base yet is made of MPI_COMM_WORLD.
  WorldMaker(World& world, AgreementProvider& agreements);

  /// Forgets the last candidate, and numbers the groups of the next. Every process must number all groups. Local.
  void begin_candidate();
  /// Returns when every living member of the base has come here. Collective over them.
  void settle();
  /// Makes the candidate's base of the living. Collective over the base.
  recovery::Shrunk shrink();
  /// Collective over the base, or over the candidate, of which shrink() must have succeeded everywhere.
  recovery::Agreed agree(recovery::Among among, std::uint32_t contribution);
  /// Makes the communicators of the ranks. `rank`: this process's, if any. Collective over the candidate. Throws what
  /// is no process failure.
  recovery::SplitEnded split(std::optional<Rank> rank);
  /// Has everyone leave what they wait in of the candidate. Local.
  void interrupt();
  /// The candidate is the world from now on, and `position` says who is in it. `complete`: somebody holds each rank.
  /// Local.
  void adopt(const recovery::Position& position, bool complete);
  /// The first world was made with the library's agreement; from here on the provider's own serves. Collective.
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

  MPI_Comm base() const { return world_.base ? world_.base.get() : MPI_COMM_WORLD; }

  World& world_;
  AgreementProvider& agreements_;
  Candidate candidate_;
};

}  // namespace mend
