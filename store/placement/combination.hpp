// The steps of a commit or a restore. All steps are of one kind: a rank gets a range of a block as a linear combination
// of ranges of blocks that other ranks have. A copy is a combination of one range.
//
// Plans are lists of these steps (store/restore/restore_plan.hpp). store/placement/exchange.hpp carries them out among
// ranks; the tests carry them out in the memory of one process.

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

/// A range of a block that rank `from` has. If it is shorter than the target, zeros follow.
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
  ByteCount whole = 0;  ///< the length of the whole target block
  ByteCount offset = 0;
  ByteCount length = 0;
  std::vector<Source> sources;  ///< if empty, the range is zeros
  bool operator==(const Combination&) const = default;

  bool is_copy() const {
    return sources.size() == 1 && sources.front().coefficient == 1 && sources.front().length == length;
  }
};

/// Sizes of snapshots by owner. A rank needs the sizes in the stripes in which it has a part.
using Sizes = std::vector<ByteCount>;

/// Returns the sizes of the snapshots of a block's owners.
std::vector<ByteCount> sizes_of(const Block& block, const Sizes& sizes);

/// Returns the length of the pieces of a stripe, which is also the size of the blocks that its holders keep. If there
/// is one owner, its snapshot is one piece. Otherwise the longest snapshot of all owners and holders decides, so that
/// the length is the same in all stripes of a group; shorter snapshots are padded with zeros that are not stored.
ByteCount kept_bytes(const Stripe& stripe, const Sizes& sizes);

/// Returns the step that copies a whole snapshot.
Combination copy(Rank owner, Rank from, Rank to, const Sizes& sizes);

/// Returns piece `index` of a snapshot that is cut into pieces of `piece_length`. Rank `from` has the snapshot.
Source piece(Rank owner, std::size_t index, ByteCount piece_length, Rank from, const Sizes& sizes);

/// Returns the step that makes the block of holder `row` from the owners' pieces: a copy or a parity. With a range,
/// which must not be empty, the step makes only that part of the block.
Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes);
Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes, ByteRange range);

/// Returns the ranges of a stripe's copies or parities that must be made again after these changes of the snapshots;
/// `changes` by rank. Returns the whole block if the snapshot of an owner has changed as a whole, or if a holder lacks
/// older blocks. For parities also if the snapshot of a holder has changed as a whole, because the pieces may have
/// another length then.
std::vector<ByteRange> stale_ranges(const Stripe& stripe, const Sizes& sizes, std::span<const Changes> changes);

/// Returns the block that holder `row` of a stripe keeps.
Block kept_block(const Stripe& stripe, std::size_t row);

}  // namespace mend
