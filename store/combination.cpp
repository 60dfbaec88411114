#include "store/combination.hpp"

#include <algorithm>

namespace mend {
namespace {

ByteCount size_of(Rank owner, const Sizes& sizes) { return sizes[static_cast<std::size_t>(owner.value)]; }

}  // namespace

std::vector<ByteCount> sizes_of(const Block& block, const Sizes& sizes) {
  std::vector<ByteCount> of_owners;
  for (Rank owner : block.owners) of_owners.push_back(size_of(owner, sizes));
  return of_owners;
}

ByteCount piece_bytes(const Stripe& stripe, const Sizes& sizes) {
  constexpr ByteCount alignment = 64;
  ByteCount longest = 0;
  for (Rank rank : stripe.owners) longest = std::max(longest, size_of(rank, sizes));
  for (Rank rank : stripe.keepers) longest = std::max(longest, size_of(rank, sizes));
  const ByteCount per_piece = (longest + stripe.owners.size() - 1) / stripe.owners.size();
  return (per_piece + alignment - 1) / alignment * alignment;
}

ByteCount target_bytes(const Combination& step, const Sizes& sizes) {
  return step.target.is_snapshot() ? size_of(step.target.owners.front(), sizes) : step.length;
}

Combination copy(Rank owner, Rank from, Rank to, const Sizes& sizes) {
  const ByteCount size = size_of(owner, sizes);
  return {to, Block::snapshot_of(owner), 0, size, {{from, Block::snapshot_of(owner), 0, size}}};
}

Source piece(Rank owner, std::size_t index, ByteCount piece_length, Rank from, const Sizes& sizes) {
  const ByteCount size = size_of(owner, sizes);
  const ByteCount begin = std::min(size, index * piece_length);
  return {from, Block::snapshot_of(owner), begin, std::min(piece_length, size - begin)};
}

Block kept_block(const Stripe& stripe, std::size_t row) {
  return stripe.owners.size() == 1 ? Block::snapshot_of(stripe.owners.front()) : Block{stripe.owners, static_cast<int>(row)};
}

Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes) {
  const Rank keeper = stripe.keepers[row];
  if (stripe.owners.size() == 1) return copy(stripe.owners.front(), stripe.owners.front(), keeper, sizes);
  const ByteCount length = piece_bytes(stripe, sizes);
  Combination made{keeper, kept_block(stripe, row), 0, length, {}};
  for (std::size_t i = 0; i < stripe.owners.size(); ++i) {
    Source source = piece(stripe.owners[i], i, length, stripe.owners[i], sizes);
    source.coefficient = coefficient_of(static_cast<int>(row), static_cast<int>(i));
    if (source.length > 0) made.sources.push_back(std::move(source));
  }
  return made;
}

}  // namespace mend
