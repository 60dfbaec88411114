#include "agreement/era/archive.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace mend::agreement {
namespace {

Tally result(std::uint64_t word) {
  Tally tally;
  tally.counted = true;
  tally.value.words[0] = word;
  return tally;
}

TEST(IdRanges, fold_in_whatever_order_agreements_return) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    IdRanges ranges;
    std::set<std::uint64_t> plain;
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t first = random() % 60;
      const std::uint64_t end = first + random() % 5;
      ranges.insert(IdRange{{first}, {end}});
      for (std::uint64_t id = first; id < end; ++id) plain.insert(id);
      for (std::uint64_t id = 0; id < 70; ++id) ASSERT_EQ(ranges.contains({id}), plain.contains(id));
    }
    for (std::size_t i = 1; i < ranges.ranges().size(); ++i) {
      ASSERT_LT(ranges.ranges()[i - 1].end, ranges.ranges()[i].first) << "touching ranges are one";
    }
  }
}

TEST(Archive, offers_the_range_that_holds_the_oldest_result_it_keeps) {
  Archive archive;
  archive.keep({0}, result(10));
  archive.keep({1}, result(11));
  EXPECT_EQ(archive.returned(), (IdRange{{0}, {2}}));
  archive.forget({{0}, {2}});
  EXPECT_EQ(archive.size(), 0U);
  EXPECT_EQ(archive.returned(), (IdRange{{0}, {2}})) << "others may still keep these";
  archive.keep({4}, result(14));
  archive.keep({3}, result(13));
  EXPECT_EQ(archive.returned(), (IdRange{{3}, {5}})) << "2 is still under way";
  archive.keep({2}, result(12));
  EXPECT_EQ(archive.returned(), (IdRange{{0}, {5}}));
}

TEST(Archive, knows_what_is_over_from_what_is_yet_to_come) {
  Archive archive;
  archive.keep({0}, result(10));
  ASSERT_NE(archive.find({0}), nullptr);
  EXPECT_EQ(archive.find({0})->value.words[0], 10U);
  archive.forget({{0}, {1}});
  EXPECT_EQ(archive.find({0}), nullptr);
  EXPECT_TRUE(archive.is_over({0}));
  EXPECT_EQ(archive.find({1}), nullptr);
  EXPECT_FALSE(archive.is_over({1}));
}

}  // namespace
}  // namespace mend::agreement
