// The effect of one recovery under local rollback (--mend-rollback local): which ranks rolled back, and what the others
// kept.

#pragma once

#include "base/ids.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace mend {

/// The states that the ranks exchanged when they had new communicators. The same on all of them.
struct RollbackReport {
  Epoch epoch;             ///< the epoch that began with the recovery
  Version version;         ///< to which they rolled back; Version{0}: to the beginning
  std::vector<Rank> back;  ///< the ranks that rolled back, ascending
  struct OfRank {
    std::uint64_t kept = 0;    ///< steps that it had computed since the version, and did not repeat
    std::uint64_t logged = 0;  ///< bytes of messages in its log
    bool operator==(const OfRank&) const = default;
  };
  std::vector<OfRank> ranks;  ///< by rank
  bool operator==(const RollbackReport&) const = default;
};

/// Returns the reports of the recoveries into `epochs`, in this order, as any rank has them: a process that has taken
/// over a rank does not know the earlier ones. A report that no rank has is left out. Collective over `comm`, whose
/// errors are thrown; `epochs` is the same on all.
std::vector<RollbackReport> over_all_ranks(std::span<const RollbackReport> own, std::span<const Epoch> epochs,
                                           MPI_Comm comm);

}  // namespace mend
