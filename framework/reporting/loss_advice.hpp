#pragma once

#include "base/clock.hpp"
#include "base/death/death_cause.hpp"
#include "base/ids.hpp"

#include <span>
#include <string>

namespace mend {

/// A rank that has lost its process since data was last made safe.
struct LostRank {
  Rank rank;
  DeathCause cause;
  WallClock::time_point when;
};

/// What follows a sentence on lost data: who died together, within what time, and what would have survived that.
/// `ranks`: how many there were; `has_disk`: whether versions go to disk already. Empty when nobody died. Pure.
std::string advise_on_loss(std::span<const LostRank> lost, int ranks, bool has_disk);

}  // namespace mend
