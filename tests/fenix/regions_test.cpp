#include "fenix/data/regions.hpp"

#include <gmock/gmock.h>

namespace {

using mend::fenix::Region;
using mend::fenix::Regions;
using testing::ElementsAre;
using testing::IsEmpty;

Regions of(std::initializer_list<Region> regions) {
  Regions made;
  for (const Region& region : regions) made.add(region);
  return made;
}

TEST(Regions, are_in_order_and_do_not_touch) {
  EXPECT_THAT(of({{5, 7}, {0, 2}}).all(), ElementsAre(Region{0, 2}, Region{5, 7}));
  EXPECT_THAT(of({{0, 2}, {2, 4}}).all(), ElementsAre(Region{0, 4}));
  EXPECT_THAT(of({{4, 6}, {0, 4}}).all(), ElementsAre(Region{0, 6}));
  EXPECT_THAT(of({{0, 1}, {3, 4}, {6, 7}, {1, 6}}).all(), ElementsAre(Region{0, 7}));
  EXPECT_THAT(of({{0, 9}, {3, 4}}).all(), ElementsAre(Region{0, 9}));
}

TEST(Regions, leave_out_what_is_empty) {
  EXPECT_THAT(of({{3, 3}, {4, 2}}).all(), IsEmpty());
  EXPECT_THAT(Regions::first(0).all(), IsEmpty());
}

TEST(Regions, can_be_cut) {
  const Regions regions = of({{0, 2}, {5, 9}});
  EXPECT_THAT(regions.below(7).all(), ElementsAre(Region{0, 2}, Region{5, 7}));
  EXPECT_THAT(regions.below(4).all(), ElementsAre(Region{0, 2}));
  EXPECT_EQ(regions.end(), 9);
}

TEST(Regions, add_up) {
  Regions regions = of({{0, 2}});
  regions.add(of({{2, 3}, {7, 8}}));
  EXPECT_EQ(regions, of({{0, 3}, {7, 8}}));
}

TEST(Regions, of_a_million_pieces_take_a_moment) {
  constexpr std::size_t count = 1'000'000;
  Regions even;
  Regions odd;
  for (std::size_t i = 0; i < count; ++i) {
    even.add({10 * i, 10 * i + 2});
    odd.add({10 * i + 5, 10 * i + 6});
  }
  even.add(odd);
  EXPECT_EQ(even.all().size(), 2 * count);
  EXPECT_EQ(even.below(100).all().size(), 20);
  even.add({0, 10 * count});
  EXPECT_THAT(even.all(), ElementsAre(Region{0, 10 * count}));
}

}  // namespace
