// One number for a whole distributed field, to compare runs by.
//
// Every point contributes a strongly mixed hash of (its global index, the bits of its value); contributions are added
// modulo 2^64. Addition forgets the order and who owned which point, so the hash depends on the field alone: not on
// the number of ranks, the decomposition, or what died on the way. One bit changed anywhere changes it.

#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace apps {

class FieldHash {
 public:
  /// Counts in the point with number `global_index`. Each point of the field is added on one rank only.
  void add(std::uint64_t global_index, double value);

  /// What this rank has added so far.
  std::uint64_t partial() const { return sum_; }

  /// The hash of the field. Collective over `comm`; the same on every rank.
  std::uint64_t total(MPI_Comm comm) const;

 private:
  std::uint64_t sum_ = 0;
};

/// As 16 hexadecimal digits.
std::string hash_text(std::uint64_t hash);

}  // namespace apps
