#include "apps/minife/mesh/mesh.hpp"
#include "apps/minife/mesh/partition.hpp"
#include "base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace apps::minife {
namespace {

Box box_of(int x, int y, int z) { return {{}, {x, y, z}}; }

TEST(Box, places_and_indices_are_each_others_inverse) {
  const Box box{{2, -1, 5}, {5, 1, 9}};
  ASSERT_EQ(box.volume(), 3 * 2 * 4);
  for (std::int64_t i = 0; i < box.volume(); ++i) {
    EXPECT_TRUE(box.contains(box.at(i)));
    EXPECT_EQ(box.index(box.at(i)), i);
  }
  EXPECT_EQ(box.at(1), (Triple{3, -1, 5})) << "x runs fastest";
}

TEST(Box, boxes_apart_have_an_empty_intersection) {
  EXPECT_TRUE(intersection(box_of(2, 2, 2), {{2, 0, 0}, {4, 2, 2}}).empty());
  EXPECT_EQ(intersection(box_of(3, 3, 3), {{2, 1, 0}, {4, 2, 2}}), (Box{{2, 1, 0}, {3, 2, 2}}));
}

class Bisection : public testing::TestWithParam<int> {};

TEST_P(Bisection, gives_every_place_to_one_part_and_no_part_nothing) {
  const Box whole = box_of(7, 5, 6);
  std::vector<int> owners(static_cast<std::size_t>(whole.volume()), 0);
  const std::vector<Box> parts = bisect(whole, GetParam());
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(GetParam()));
  for (const Box& part : parts) {
    EXPECT_FALSE(part.empty());
    for (std::int64_t i = 0; i < part.volume(); ++i) ++owners[static_cast<std::size_t>(whole.index(part.at(i)))];
  }
  EXPECT_THAT(owners, testing::Each(1));
}

TEST_P(Bisection, shares_fairly) {
  const Box whole = box_of(41, 41, 41);
  const auto fair = static_cast<double>(whole.volume()) / GetParam();
  for (const Box& part : bisect(whole, GetParam())) {
    EXPECT_NEAR(static_cast<double>(part.volume()), fair, 0.25 * fair);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, Bisection, testing::Values(1, 2, 3, 4, 5, 7, 8, 13, 24));

TEST(Bisection, cuts_down_to_single_places) {
  EXPECT_EQ(bisect(box_of(2, 2, 2), 8).size(), 8u);
  EXPECT_EQ(bisect(box_of(5, 1, 1), 5).size(), 5u);
}

TEST(Bisection, refuses_more_parts_than_can_be_cut) {
  EXPECT_THROW(bisect(box_of(2, 2, 2), 9), mend::UsageError);
  EXPECT_THROW(bisect(box_of(0, 2, 2), 1), mend::UsageError);
  EXPECT_THROW(bisect(box_of(2, 2, 2), 0), mend::UsageError);
}

TEST(Mesh, refuses_an_axis_without_elements) {
  EXPECT_THROW(Mesh({4, 0, 4}, mend::Rank{0}, 1), mend::UsageError);
  EXPECT_THROW(Mesh({-1, 4, 4}, mend::Rank{0}, 1), mend::UsageError);
}

TEST(Mesh, numbers_the_owned_nodes_first_and_every_known_node_once) {
  const Mesh mesh({6, 5, 4}, mend::Rank{3}, 7);
  std::set<int> numbers;
  for (std::int64_t i = 0; i < mesh.numbering().known.volume(); ++i) {
    const Triple node = mesh.numbering().known.at(i);
    const int number = mesh.numbering()(node);
    numbers.insert(number);
    EXPECT_EQ(mesh.places()(static_cast<std::size_t>(number)), node);
    EXPECT_EQ(number < mesh.owned_count(), mesh.owned().contains(node));
  }
  ASSERT_EQ(numbers.size(), static_cast<std::size_t>(mesh.known_count()));
  EXPECT_EQ(*numbers.begin(), 0);
  EXPECT_EQ(*numbers.rbegin(), mesh.known_count() - 1);
}

TEST(Mesh, neighbours_see_their_exchange_alike) {
  constexpr int ranks = 7;
  int exchanges = 0;
  for (int r = 0; r < ranks; ++r) {
    const Mesh ours({6, 5, 4}, mend::Rank{r}, ranks);
    std::int64_t halo = 0;
    for (const Neighbour& neighbour : ours.neighbours()) {
      const Mesh theirs({6, 5, 4}, neighbour.rank, ranks);
      const auto back = std::ranges::find(theirs.neighbours(), mend::Rank{r}, &Neighbour::rank);
      ASSERT_NE(back, theirs.neighbours().end());
      EXPECT_EQ(back->send, neighbour.receive);
      EXPECT_EQ(back->receive, neighbour.send);
      halo += neighbour.receive.volume();
      ++exchanges;
    }
    EXPECT_EQ(ours.owned_count() + halo, ours.known_count()) << "the halo has an owner for every node";
  }
  EXPECT_GT(exchanges, 0);
}

}  // namespace
}  // namespace apps::minife
