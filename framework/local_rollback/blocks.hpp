#pragma once

#include <mpi.h>

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace mend {

/// The lengths and the offsets of blocks of values, one block for each rank.
struct Blocks {
  explicit Blocks(std::vector<int> lengths) : counts(std::move(lengths)), offsets(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), MPI_Aint{0});
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
  std::vector<MPI_Aint> offsets;  ///< unlike the lengths, they need not fit into an int
};

/// The offsets of blocks, by rank: the application's, or those of Blocks.
class Offsets {
 public:
  Offsets(const int* given) : given_(given) {}
  Offsets(const MPI_Aint* of_blocks) : of_blocks_(of_blocks) {}
  MPI_Aint operator[](int rank) const { return of_blocks_ == nullptr ? given_[rank] : of_blocks_[rank]; }

 private:
  const int* given_ = nullptr;
  const MPI_Aint* of_blocks_ = nullptr;
};

}  // namespace mend
