// The blocks that the store keeps in memory: snapshots, and parities of pieces of them.

#pragma once

#include "base/ids.hpp"

#include <compare>
#include <vector>

namespace mend {

/// The name of a block, which is the same on all ranks that keep it. With one owner it is that rank's snapshot, or a
/// copy of it. With several owners it is parity `row` of one piece of each (see Stripe).
struct Block {
  std::vector<Rank> owners;
  int row = 0;
  auto operator<=>(const Block&) const = default;

  bool is_snapshot() const { return owners.size() == 1; }
  static Block snapshot_of(Rank owner) { return {{owner}, 0}; }
};

}  // namespace mend
