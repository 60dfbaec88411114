// The processes that a broadcast reaches, for every number of processes and every choice of the dead.

#include "detector/hypercubes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

namespace mend::detector {
namespace {

std::vector<Label> all(const Labels& labels) { return {labels.begin(), labels.end()}; }

TEST(Hypercubes, tolerate_the_logarithm_of_the_processes_less_one) {
  EXPECT_EQ(deaths_tolerated(1), 0U);
  EXPECT_EQ(deaths_tolerated(3), 0U);
  EXPECT_EQ(deaths_tolerated(4), 1U);
  EXPECT_EQ(deaths_tolerated(8), 2U);
  EXPECT_EQ(deaths_tolerated(256'000), 16U);
}

TEST(Hypercubes, overlap_so_that_all_are_covered) {
  EXPECT_TRUE(all(neighbours(1, 0, std::nullopt)).empty());
  EXPECT_EQ(all(neighbours(2, 0, std::nullopt)), (std::vector<Label>{1}));
  EXPECT_EQ(all(neighbours(3, 0, std::nullopt)), (std::vector<Label>{1, 2}));
  EXPECT_EQ(all(neighbours(13, 0, std::nullopt)), (std::vector<Label>{1, 2, 4, 12, 11, 9}));
  EXPECT_EQ(all(neighbours(13, 3, std::nullopt)), (std::vector<Label>{2, 1, 7})) << "forwards alone";
  EXPECT_EQ(all(neighbours(13, 10, std::nullopt)), (std::vector<Label>{11, 12, 6})) << "backwards alone";
}

TEST(Hypercubes, go_round_the_dimensions_from_where_the_message_came) {
  EXPECT_EQ(all(neighbours(13, 2, 0)), (std::vector<Label>{6, 3})) << "came in dimension 1: then 2, then 0";
  EXPECT_EQ(all(neighbours(13, 3, 2)), (std::vector<Label>{1, 7}));
}

TEST(Hypercubes, lead_both_ways) {
  for (std::uint32_t count = 1; count <= 300; ++count) {
    for (Label a = 0; a < count; ++a) {
      for (Label b : neighbours(count, a, std::nullopt)) {
        ASSERT_LT(b, count);
        ASSERT_NE(a, b);
        const auto back = all(neighbours(count, b, std::nullopt));
        ASSERT_EQ(std::count(back.begin(), back.end(), a), 1) << count << ": " << a << " and " << b;
      }
    }
  }
}

/// The living processes that hear a broadcast from 0, as bits, and the largest number of hops to any of them.
struct Reach {
  std::uint64_t heard;
  std::uint32_t hops;
};
Reach reach(const std::vector<std::uint64_t>& beside, std::uint64_t living) {
  Reach reached{1, 0};
  for (std::uint64_t front = 1; front != 0; ++reached.hops) {
    std::uint64_t next = 0;
    for (std::uint64_t left = front; left != 0; left &= left - 1) {
      next |= beside[static_cast<std::size_t>(__builtin_ctzll(left))];
    }
    front = next & living & ~reached.heard;
    reached.heard |= front;
    if (front == 0) break;
  }
  return reached;
}

std::vector<std::uint64_t> neighbourhoods(std::uint32_t count) {
  std::vector<std::uint64_t> beside(count, 0);
  for (Label a = 0; a < count; ++a) {
    for (Label b : neighbours(count, a, std::nullopt)) beside[a] |= std::uint64_t{1} << b;
  }
  return beside;
}

/// Calls `function` with every set of `size` labels from 1 to count-1, as bits.
template <class Function>
void each_choice(std::uint32_t count, std::uint32_t size, Function function) {
  if (size == 0) return function(std::uint64_t{0});
  const std::uint64_t end = std::uint64_t{1} << (count - 1);
  for (std::uint64_t set = (std::uint64_t{1} << size) - 1; set < end;) {
    function(set << 1U);
    const std::uint64_t low = set & -set;
    const std::uint64_t up = set + low;
    set = (((up ^ set) >> 2U) / low) | up;
  }
}

TEST(Hypercubes, reach_all_living_whoever_dies_of_as_many_as_are_tolerated) {
  std::uint64_t choices = 0;
  std::uint32_t farthest = 0;
  for (std::uint32_t count = 2; count <= 40; ++count) {
    const auto beside = neighbourhoods(count);
    const std::uint64_t everyone = (std::uint64_t{1} << count) - 1;
    each_choice(count, deaths_tolerated(count), [&](std::uint64_t dead) {
      const Reach reached = reach(beside, everyone & ~dead);
      ++choices;
      farthest = std::max(farthest, reached.hops);
      ASSERT_EQ(reached.heard, everyone & ~dead) << count << " processes";
      ASSERT_LE(reached.hops, 2 * dimension(count));
    });
  }
  std::cout << fmt::format("{} choices of the dead; {} hops at most\n", choices, farthest);
}

TEST(Hypercubes, tolerate_no_more_in_general) {
  const auto beside = neighbourhoods(7);
  EXPECT_EQ(reach(beside, 0b1111001).heard, 0b1110001U) << "label 3 hears from 1 and 2 alone";
}

}  // namespace
}  // namespace mend::detector
