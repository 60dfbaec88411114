#pragma once

#include "base/clock.hpp"
#include "base/death/death_cause.hpp"
#include "base/ids.hpp"

#include <span>
#include <string>

namespace mend {

/// A rank that has lost its process since the last commit.
struct RankDeath {
  Rank rank;
  DeathCause cause;
  WallClock::time_point when;
};

/// Returns the text after a message about lost data: the ranks that died together, within what time, and what would
/// have survived that. `ranks`: the number of ranks; `has_disk`: versions are already written to disk. Empty if no rank
/// died. Pure.
std::string advise_on_loss(std::span<const RankDeath> lost, int ranks, bool has_disk);

}  // namespace mend
