// The effect of a process's death on its rank.

#pragma once

#include "base/ids.hpp"

namespace mend {

/// A rank that another process took over.
struct Replacement {
  Rank rank;
  ProcessId dead;
  ProcessId newcomer;
  bool operator==(const Replacement&) const = default;
};

/// A rank and the process that it has lost.
struct LostRank {
  Rank rank;
  ProcessId dead;
  bool operator==(const LostRank&) const = default;
};

}  // namespace mend
