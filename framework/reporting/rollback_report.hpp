// The effect of one recovery under local rollback (--mend-rollback local): which ranks went back, and what the others
// kept.

#pragma once

#include "base/ids.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace mend {

/// As the ranks told each other when they had new communicators. The same on all of them.
struct RollbackReport {
  Epoch epoch;             ///< the epoch that began with the recovery
  Version version;         ///< to which they went back; Version{0}: to the beginning
  std::vector<Rank> back;  ///< the ranks that went back, ascending
  struct OfRank {
    std::uint64_t kept = 0;    ///< steps that it had computed since the version, and did not go back over
    std::uint64_t logged = 0;  ///< bytes of messages in its log
    bool operator==(const OfRank&) const = default;
  };
  std::vector<OfRank> ranks;  ///< by rank
  bool operator==(const RollbackReport&) const = default;
};

/// The reports of the recoveries into `epochs`, in this order, as any rank has them: a process that has taken over a
/// rank does not know of those before. What no rank knows of is left out. Collective over `comm`, whose errors are
/// thrown; `epochs` is the same on all.
std::vector<RollbackReport> over_all_ranks(std::span<const RollbackReport> own, std::span<const Epoch> epochs,
                                           MPI_Comm comm);

}  // namespace mend
