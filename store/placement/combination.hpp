// What a commit or a restore has to do, in one kind of step: some rank gets a range of a block, as a combination of
// ranges of blocks that others have. A copy is a combination of one.
//
// Plans are lists of such steps (store/restore/restore_plan.hpp); store/placement/exchange.hpp carries them out among
// real ranks, and the tests do so in the memory of one process.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/block.hpp"
#include "store/placement/coding.hpp"
#include "store/snapshot/pages.hpp"
#include "store/placement/placement.hpp"
#include "store/snapshot/snapshot.hpp"

#include <span>
#include <vector>

namespace mend {

/// A range of a block that `from` has. Where it is shorter than the target, zeros are meant to follow.
struct Source {
  Rank from;
  Block block;
  ByteCount offset = 0;
  ByteCount length = 0;
  Coefficient coefficient = 1;
  bool operator==(const Source&) const = default;
};

struct Combination {
  Rank to;
  Block target;
  ByteCount whole = 0;  ///< how long the target is in all
  ByteCount offset = 0;
  ByteCount length = 0;
  std::vector<Source> sources;  ///< none: zeros
  bool operator==(const Combination&) const = default;

  bool is_copy() const {
    return sources.size() == 1 && sources.front().coefficient == 1 && sources.front().length == length;
  }
};

/// Sizes of snapshots by owner. A rank needs to know those of the stripes it has a part in.
using Sizes = std::vector<ByteCount>;

/// Those of a block's owners.
std::vector<ByteCount> sizes_of(const Block& block, const Sizes& sizes);

/// How long the pieces of a stripe's snapshots are, and so what its keepers keep. A single owner's snapshot is one
/// piece. Else the longest snapshot of all owners and keepers decides, so that it is the same in all stripes of a
/// group; shorter ones end in zeros that nobody stores.
ByteCount kept_bytes(const Stripe& stripe, const Sizes& sizes);

/// A snapshot, whole.
Combination copy(Rank owner, Rank from, Rank to, const Sizes& sizes);

/// Piece `index` of a snapshot that is cut into pieces of this length, at `from`.
Source piece(Rank owner, std::size_t index, ByteCount piece_length, Rank from, const Sizes& sizes);

/// What keeper `row` of a stripe keeps, made of what its owners have: a copy, or a parity. With a range, only that part
/// of it, which is not empty.
Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes);
Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes, ByteRange range);

/// What of a stripe's copies or parities has to be made again, when each rank's snapshot has changed like that since
/// they were made last; `changes` by rank. What anybody has packed anew is all to be made again.
std::vector<ByteRange> stale_ranges(const Stripe& stripe, const Sizes& sizes, std::span<const Changes> changes);

/// The name of what keeper `row` of a stripe keeps.
Block kept_block(const Stripe& stripe, std::size_t row);

}  // namespace mend
