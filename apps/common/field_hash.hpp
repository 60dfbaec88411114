// One number for a whole distributed field, to compare runs by.
//
// Every point contributes a strongly mixed hash of (its global index, the bits of its value). The contributions are
// added modulo 2^64. The sum does not depend on the order or on the owners of the points, so the hash depends only on
// the field: not on the number of ranks, the decomposition, or failures during the run. Changing one bit anywhere
// changes the hash.

#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace apps {

class FieldHash {
 public:
  /// Adds the point with number `global_index`. Each point of the field is added on one rank only.
  void add(std::uint64_t global_index, double value);

  /// Returns the sum of this rank's points so far.
  std::uint64_t partial() const { return sum_; }

  /// Returns the hash of the field. Collective over `comm`; the same on every rank.
  std::uint64_t total(MPI_Comm comm) const;

 private:
  std::uint64_t sum_ = 0;
};

/// Returns the hash as 16 hexadecimal digits.
std::string hash_text(std::uint64_t hash);

}  // namespace apps
