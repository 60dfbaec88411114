// What a commit or a restore has to do, in one kind of step: some rank gets a range of a block, as a combination of
// ranges of blocks that others have. A copy is a combination of one.
//
// Plans are lists of such steps (store/restore_plan.hpp); store/exchange.hpp carries them out among real ranks, and the
// tests do so in the memory of one process.

#pragma once

#include "base/ids.hpp"
#include "store/block.hpp"
#include "store/coding.hpp"
#include "store/placement.hpp"

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

/// How long the pieces of a stripe's snapshots are, and so its parities: the longest snapshot of all its owners and
/// keepers decides, so that it is the same in all stripes of a group. Shorter snapshots end in zeros that nobody stores.
ByteCount piece_bytes(const Stripe& stripe, const Sizes& sizes);

/// How long the block is that a step makes, or a part of.
ByteCount target_bytes(const Combination& step, const Sizes& sizes);

/// A snapshot, whole.
Combination copy(Rank owner, Rank from, Rank to, const Sizes& sizes);

/// Piece `index` of a snapshot that is cut into pieces of this length, at `from`.
Source piece(Rank owner, std::size_t index, ByteCount piece_length, Rank from, const Sizes& sizes);

/// What keeper `row` of a stripe keeps, made of what its owners have: a copy, or a parity.
Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes);

/// The name of what keeper `row` of a stripe keeps.
Block kept_block(const Stripe& stripe, std::size_t row);

}  // namespace mend
