#include "framework/local_rollback/blocks.hpp"

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace {

using mend::Blocks;
using mend::Offsets;
using testing::ElementsAre;

TEST(BlocksOfRanks, follow_each_other) {
  EXPECT_THAT(Blocks(std::vector{2, 0, 3}).offsets, ElementsAre(0, 2, 2));
  EXPECT_THAT(Blocks::equal(3, 5).offsets, ElementsAre(0, 5, 10));
  EXPECT_THAT(Blocks::of(7, 3).counts, ElementsAre(3, 2, 2));
  EXPECT_THAT(Blocks::of(7, 3).offsets, ElementsAre(0, 3, 5));
}

TEST(BlocksOfRanks, have_offsets_larger_than_an_int) {
  constexpr MPI_Aint length = MPI_Aint{1} << 30;
  const Blocks blocks = Blocks::equal(4, static_cast<int>(length));
  EXPECT_THAT(blocks.offsets, ElementsAre(0, length, 2 * length, 3 * length));
  EXPECT_EQ(Offsets(blocks.offsets.data())[3], 3 * length);
}

TEST(BlocksOfRanks, have_the_offsets_that_are_given) {
  const std::array<int, 3> given{7, -2, 0};
  const Offsets offsets = given.data();
  EXPECT_EQ(offsets[0], 7);
  EXPECT_EQ(offsets[1], -2);
}

}  // namespace
