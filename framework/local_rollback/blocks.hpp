#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace mend {

/// The lengths and the offsets of blocks of values, one block for each rank.
struct Blocks {
  explicit Blocks(std::vector<int> lengths) : counts(std::move(lengths)), offsets(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  }
  /// Returns blocks of `length` values.
  static Blocks equal(int ranks, int length) {
    return Blocks(std::vector<int>(static_cast<std::size_t>(ranks), length));
  }
  /// Returns the blocks of `count` values. Their lengths are almost equal.
  static Blocks of(int count, int ranks) {
    std::vector<int> lengths(static_cast<std::size_t>(ranks), count / ranks);
    for (int i = 0; i < count % ranks; ++i) ++lengths[static_cast<std::size_t>(i)];
    return Blocks(std::move(lengths));
  }

  std::vector<int> counts;
  std::vector<int> offsets;
};

}  // namespace mend
