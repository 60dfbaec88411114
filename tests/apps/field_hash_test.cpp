#include "apps/common/field_hash.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

namespace {

constexpr std::uint64_t points = 1000;

double value_at(std::uint64_t index) { return std::sin(static_cast<double>(index)); }

int ranks() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}
int rank() {
  int self = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  return self;
}

/// Returns the hash when `owner` determines the rank that adds each point.
std::uint64_t hash_with(const std::function<int(std::uint64_t)>& owner, bool backwards = false) {
  apps::FieldHash hash;
  for (std::uint64_t n = 0; n < points; ++n) {
    const std::uint64_t index = backwards ? points - 1 - n : n;
    if (owner(index) == rank()) hash.add(index, value_at(index));
  }
  return hash.total(MPI_COMM_WORLD);
}

TEST(FieldHash, does_not_depend_on_who_owns_a_point_nor_on_the_order) {
  const auto count = static_cast<std::uint64_t>(ranks());
  const std::uint64_t by_one = hash_with([](std::uint64_t) { return 0; });
  EXPECT_EQ(by_one, hash_with([&](std::uint64_t index) { return static_cast<int>(index % count); }));
  EXPECT_EQ(by_one, hash_with([&](std::uint64_t index) { return static_cast<int>(index * count / points); }));
  EXPECT_EQ(by_one, hash_with([](std::uint64_t) { return 0; }, true));
}

TEST(FieldHash, changes_with_any_bit_of_any_value) {
  const auto with_bit_flipped = [](std::uint64_t victim, int bit) {
    apps::FieldHash hash;
    for (std::uint64_t index = 0; index < points; ++index) {
      auto bits = std::bit_cast<std::uint64_t>(value_at(index));
      if (index == victim && bit >= 0) bits ^= std::uint64_t{1} << bit;
      hash.add(index, std::bit_cast<double>(bits));
    }
    return hash.partial();
  };
  const std::uint64_t intact = with_bit_flipped(0, -1);
  for (int bit = 0; bit < 64; ++bit) EXPECT_NE(with_bit_flipped(17, bit), intact) << bit;
}

TEST(FieldHash, sees_two_values_that_have_changed_places) {
  apps::FieldHash straight;
  straight.add(0, 1.0);
  straight.add(1, 2.0);
  apps::FieldHash crossed;
  crossed.add(0, 2.0);
  crossed.add(1, 1.0);
  EXPECT_NE(straight.partial(), crossed.partial());
}

TEST(FieldHash, is_written_as_16_digits) { EXPECT_EQ(apps::hash_text(0x1f), "000000000000001f"); }

}  // namespace
