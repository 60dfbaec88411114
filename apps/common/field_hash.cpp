#include "apps/common/field_hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <bit>

namespace apps {

void FieldHash::add(std::uint64_t global_index, double value) {
  const std::array<std::uint64_t, 2> point{global_index, std::bit_cast<std::uint64_t>(value)};
  sum_ += XXH3_64bits(point.data(), sizeof point);
}

std::uint64_t FieldHash::total(MPI_Comm comm) const {
  std::uint64_t total = 0;
  MPI_Allreduce(&sum_, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
  return total;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace apps
