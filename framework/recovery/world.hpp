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
// A process that fails in a split revokes the candidate, so that nobody waits for it in vain; the base below stays
// whole, and all turn back to it. Every turn is decided by an agreement, so all turn together; each turn is caused
// by at least one more death, so the turning ends.

#pragma once

#include "agreement/agreement.hpp"
#include "agreement/ballot.hpp"
#include "base/clock.hpp"
#include "base/process_set.hpp"
#include "framework/recovery/agreement_provider.hpp"
#include "framework/process/failure_detector.hpp"
#include "spares/roster.hpp"
#include "transport/mpi.hpp"

#include <functional>
#include <memory>
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

/// What a rebuilding went through.
struct RebuildOutcome {
  ProcessSet dead;                        ///< who was a member of the old base and is not of the new
  std::vector<Replacement> replacements;  ///< who took whose rank
  std::vector<Loss> given_up;             ///< ranks that are no more
  std::vector<Rank> vacant;               ///< ranks nobody is there for
  int rounds = 0;                         ///< how often it was tried
  WallClock::time_point agreed_on_dead;   ///< when the last round's shrink had been agreed on
};

/// Called when a death is met while the communicators are being made: has everyone who may have finished that already
/// come back, spares too.
using DeathInRebuild = std::function<void()>;

/// Makes the first world of a job out of MPI_COMM_WORLD, founds `agreements`. `detector` knows where they are.
/// Collective over all processes launched; those that die meanwhile are made up for by spares. Throws, on all alike,
/// UsageError when `spares` leaves nobody to work and Unrecoverable when too many have died.
World first_world(int spares, AgreementProvider& agreements, const FailureDetector& detector);

/// Replaces `world` by one of the living, in which is done about the dead what `policy` says. Collective over the
/// living members of its base. When ranks are vacant, it is no new epoch: the new world has a base but no application
/// communicator.
RebuildOutcome rebuild(World& world, const Policy& policy, AgreementProvider& agreements, const DeathInRebuild& death);

}  // namespace mend
