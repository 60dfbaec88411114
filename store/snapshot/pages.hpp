// Pages: the parts of a block that are hashed, and found to be changed or damaged, separately.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/hash.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace mend {

inline constexpr ByteCount page_bytes = ByteCount{16} << 10;

/// Bytes from `begin` up to, but not including, `end`.
struct ByteRange {
  ByteCount begin = 0;
  ByteCount end = 0;
  bool operator==(const ByteRange&) const = default;
};

inline std::size_t page_count(ByteCount bytes) { return (bytes + page_bytes - 1) / page_bytes; }

/// Returns page number `index`. The last page may be short.
template <class Byte>
std::span<Byte> page_of(std::span<Byte> bytes, std::size_t index) {
  const ByteCount begin = index * page_bytes;
  return bytes.subspan(begin, std::min(page_bytes, bytes.size() - begin));
}

/// Adds a range that begins no earlier than those before. If it touches the last range, the two are joined.
inline void add_range(std::vector<ByteRange>& ranges, ByteRange range) {
  if (range.begin >= range.end) return;
  if (!ranges.empty() && range.begin <= ranges.back().end) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

/// Returns the union of `ranges`, as disjoint ranges in ascending order.
inline std::vector<ByteRange> joined(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  std::vector<ByteRange> all;
  for (const ByteRange& range : ranges) add_range(all, range);
  return all;
}

/// Returns the bytes of `ranges` that are in none of `others`. All are disjoint and in ascending order.
inline std::vector<ByteRange> without(std::span<const ByteRange> ranges, std::span<const ByteRange> others) {
  std::vector<ByteRange> left;
  auto other = others.begin();
  for (ByteRange range : ranges) {
    while (other != others.end() && other->end <= range.begin) ++other;
    for (auto next = other; next != others.end() && next->begin < range.end; ++next) {
      add_range(left, {range.begin, next->begin});
      range.begin = next->end;
    }
    add_range(left, range);
  }
  return left;
}

}  // namespace mend
