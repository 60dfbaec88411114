// What the store keeps in a process's memory: snapshots, and parities of pieces of them.

#pragma once

#include "base/ids.hpp"

#include <compare>
#include <vector>

namespace mend {

/// The name of a block of bytes, by which it is known wherever it lies. Of one owner: that rank's snapshot, its own or
/// a copy. Of several: parity `row` of a piece of each (see Stripe).
struct Block {
  std::vector<Rank> owners;
  int row = 0;
  auto operator<=>(const Block&) const = default;

  bool is_snapshot() const { return owners.size() == 1; }
  static Block snapshot_of(Rank owner) { return {{owner}, 0}; }
};

}  // namespace mend
