#include "store/placement/combination.hpp"

#include <algorithm>
#include <utility>

namespace mend {
namespace {

ByteCount size_of(Rank owner, const Sizes& sizes) { return sizes[static_cast<std::size_t>(owner.value)]; }

}  // namespace

std::vector<ByteCount> sizes_of(const Block& block, const Sizes& sizes) {
  std::vector<ByteCount> of_owners;
  for (Rank owner : block.owners) of_owners.push_back(size_of(owner, sizes));
  return of_owners;
}

ByteCount kept_bytes(const Stripe& stripe, const Sizes& sizes) {
  if (stripe.owners.size() == 1) return size_of(stripe.owners.front(), sizes);
  constexpr ByteCount alignment = 64;
  ByteCount longest = 0;
  for (Rank rank : stripe.owners) longest = std::max(longest, size_of(rank, sizes));
  for (Rank rank : stripe.holders) longest = std::max(longest, size_of(rank, sizes));
  const ByteCount per_piece = (longest + stripe.owners.size() - 1) / stripe.owners.size();
  return (per_piece + alignment - 1) / alignment * alignment;
}

Combination copy(Rank owner, Rank from, Rank to, const Sizes& sizes) {
  const ByteCount size = size_of(owner, sizes);
  return {to, Block::snapshot_of(owner), size, 0, size, {{from, Block::snapshot_of(owner), 0, size}}};
}

Source piece(Rank owner, std::size_t index, ByteCount piece_length, Rank from, const Sizes& sizes) {
  const ByteCount size = size_of(owner, sizes);
  const ByteCount begin = std::min(size, index * piece_length);
  return {from, Block::snapshot_of(owner), begin, std::min(piece_length, size - begin)};
}

Block kept_block(const Stripe& stripe, std::size_t row) {
  return stripe.owners.size() == 1 ? Block::snapshot_of(stripe.owners.front())
                                   : Block{stripe.owners, static_cast<int>(row)};
}

Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes) {
  return encode(stripe, row, sizes, {0, kept_bytes(stripe, sizes)});
}

Combination encode(const Stripe& stripe, std::size_t row, const Sizes& sizes, ByteRange range) {
  const ByteCount whole = kept_bytes(stripe, sizes);
  Combination made{stripe.holders[row], kept_block(stripe, row), whole, range.begin, range.end - range.begin, {}};
  for (std::size_t i = 0; i < stripe.owners.size(); ++i) {
    Source source = piece(stripe.owners[i], i, whole, stripe.owners[i], sizes);
    const ByteCount skipped = std::min(source.length, range.begin);
    source.offset += skipped;
    source.length = std::min(source.length - skipped, made.length);
    source.coefficient = coefficient_of(static_cast<int>(row), static_cast<int>(i));
    if (source.length > 0) made.sources.push_back(std::move(source));
  }
  return made;
}

std::vector<ByteRange> stale_ranges(const Stripe& stripe, const Sizes& sizes, std::span<const Changes> changes) {
  const ByteCount length = kept_bytes(stripe, sizes);
  const bool is_parity = stripe.owners.size() > 1;
  const auto of = [&](Rank rank) -> const Changes& { return changes[static_cast<std::size_t>(rank.value)]; };
  const auto is_new = [&](Rank owner) { return of(owner).everything; };
  const auto needs_all = [&](Rank holder) {
    return of(holder).lacks_older_blocks || (is_parity && of(holder).everything);
  };
  if (std::ranges::any_of(stripe.owners, is_new) || std::ranges::any_of(stripe.holders, needs_all))
    return {{0, length}};
  std::vector<ByteRange> stale;
  for (std::size_t i = 0; i < stripe.owners.size(); ++i) {
    const ByteCount begin = i * length;
    for (const ByteRange& range : of(stripe.owners[i]).ranges) {
      if (range.end <= begin || range.begin >= begin + length) continue;
      ByteRange within{std::max(range.begin, begin) - begin, std::min(range.end, begin + length) - begin};
      // Parities are hashed by whole pages. If part of a page were left unchanged, damage in that part would be hashed
      // too.
      if (is_parity)
        within = {within.begin / page_bytes * page_bytes, std::min(length, page_count(within.end) * page_bytes)};
      stale.push_back(within);
    }
  }
  return joined(std::move(stale));
}

}  // namespace mend
