// Parts of arrays: their text form, the overlap of two parts, and its place in each.

#include "base/error.hpp"
#include "store/snapshot/part_boxes.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <random>
#include <set>

namespace {

using mend::ArrayPart;
using mend::Extents;
using testing::ElementsAre;

ArrayPart part_of(Extents whole, Extents offset, Extents extents) {
  return {"uint16", std::move(extents), std::move(offset), std::move(whole)};
}

/// The elements of a part. The value of each is its index in the whole array.
std::vector<std::uint16_t> numbered(const ArrayPart& part) {
  std::vector<std::uint16_t> values;
  Extents at(part.extents.size(), 0);
  const std::size_t count = part.bytes() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t place = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      place = place * part.whole[axis] + part.offset[axis] + at[axis];
    values.push_back(static_cast<std::uint16_t>(place));
    for (std::size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < part.extents[axis]) break;
      at[axis] = 0;
    }
  }
  return values;
}

/// Copies the overlap of two parts, run by run.
void copy_overlap(const ArrayPart& from, std::span<const std::byte> source, const ArrayPart& to,
                  std::span<std::byte> target) {
  const auto common = mend::overlap(from, to);
  if (!common) return;
  const mend::Runs out = mend::runs_of(from, common->in_first, common->extents);
  const mend::Runs in = mend::runs_of(to, common->in_second, common->extents);
  // Both cover the same bytes in the same order. A run of one may be several runs of the other.
  const mend::ByteCount length = std::gcd(out.length, in.length);
  const auto place = [&](const mend::Runs& runs, mend::ByteCount at) {
    return runs.offsets[at / runs.length] + at % runs.length;
  };
  for (mend::ByteCount at = 0; at < out.length * out.offsets.size(); at += length) {
    std::memcpy(target.data() + place(in, at), source.data() + place(out, at), length);
  }
}

TEST(ArrayPart, says_what_it_is_and_is_read_back) {
  const ArrayPart part{"float64", {2, 3}, {1, 2}, {4, 6}};
  EXPECT_EQ(to_string(part), "float64 array [2,3] at [1,2] of [4,6]");
  EXPECT_EQ(mend::parse_array_part(to_string(part)), part);
  EXPECT_EQ(part.bytes(), 48U);
  EXPECT_FALSE(part.is_whole());
}

TEST(ArrayPart, is_not_read_from_other_texts) {
  for (const char* text :
       {"", "array of 8 bytes [10]", "float64 array [2] at [1,2] of [4,6]", "float64 array [2,3] at [1,2] of [4,6] ",
        "float64 array [2,3] at [1,2] of [4,4]", "float array [2] at [0] of [2]", "float7 array [2] at [0] of [2]",
        "what16 array [2] at [0] of [2]", "float64 array [] at [] of []", "float64 array [-1] at [0] of [2]",
        "float64 array [2] at [18446744073709551615] of [2]"}) {
    EXPECT_FALSE(mend::parse_array_part(text)) << text;
  }
}

TEST(ArrayPart, that_lies_outside_is_refused) {
  EXPECT_NO_THROW(part_of({4}, {2}, {2}).require_sense());
  EXPECT_NO_THROW(part_of({4}, {4}, {0}).require_sense());
  EXPECT_THROW(part_of({4}, {3}, {2}).require_sense(), mend::UsageError);
  EXPECT_THROW(part_of({4}, {5}, {0}).require_sense(), mend::UsageError);
  EXPECT_THROW(part_of({4, 4}, {0}, {4}).require_sense(), mend::UsageError);
  EXPECT_THROW(part_of({}, {}, {}).require_sense(), mend::UsageError);
}

TEST(ArrayPart, has_in_common_with_another_what_lies_in_both) {
  const auto common = mend::overlap(part_of({4, 6}, {1, 2}, {2, 3}), part_of({4, 6}, {2, 0}, {2, 4}));
  ASSERT_TRUE(common);
  EXPECT_THAT(common->extents, ElementsAre(1, 2));
  EXPECT_THAT(common->in_first, ElementsAre(1, 0));
  EXPECT_THAT(common->in_second, ElementsAre(0, 2));
  EXPECT_FALSE(mend::overlap(part_of({4, 6}, {0, 0}, {2, 6}), part_of({4, 6}, {2, 0}, {2, 6})));
  EXPECT_FALSE(mend::overlap(part_of({4}, {0}, {4}), part_of({4}, {2}, {0})));
}

TEST(ArrayPart, lies_in_memory_in_runs_as_long_as_can_be) {
  const auto whole_rows = mend::runs_of(part_of({9, 6}, {0, 0}, {4, 6}), {1, 0}, {2, 6});
  EXPECT_EQ(whole_rows.length, 24U);
  EXPECT_THAT(whole_rows.offsets, ElementsAre(12));
  const auto columns = mend::runs_of(part_of({9, 6}, {0, 0}, {4, 6}), {1, 2}, {2, 3});
  EXPECT_EQ(columns.length, 6U);
  EXPECT_THAT(columns.offsets, ElementsAre(16, 28));
}

TEST(ArrayPart, is_made_of_any_others_that_cover_it) {
  std::mt19937 random(7);
  const auto any = [&](std::size_t least, std::size_t most) { return least + random() % (most - least + 1); };
  for (int round = 0; round < 500; ++round) {
    Extents whole(any(1, 4));
    for (auto& extent : whole) extent = any(1, 6);
    const Extents zero(whole.size(), 0);
    ArrayPart wanted = part_of(whole, zero, whole);
    for (std::size_t axis = 0; axis < whole.size(); ++axis) {
      wanted.offset[axis] = any(0, whole[axis] - 1);
      wanted.extents[axis] = any(1, whole[axis] - wanted.offset[axis]);
    }
    std::vector<std::uint16_t> filled(wanted.bytes() / 2, 0xffff);
    // The whole array, cut in two along each axis in turn, so that pieces of all shapes occur.
    const std::size_t axis = any(0, whole.size() - 1);
    const std::size_t cut = any(0, whole[axis]);
    for (const auto& [begin, end] : {std::pair(std::size_t{0}, cut), std::pair(cut, whole[axis])}) {
      ArrayPart from = part_of(whole, zero, whole);
      from.offset[axis] = begin;
      from.extents[axis] = end - begin;
      const auto source = numbered(from);
      copy_overlap(from, std::as_bytes(std::span(source)), wanted, std::as_writable_bytes(std::span(filled)));
    }
    ASSERT_EQ(filled, numbered(wanted)) << to_string(wanted);
  }
}

TEST(Unfound, counts_once_what_several_have) {
  mend::Unfound left(part_of({20}, {0}, {20}));
  for (int rank = 0; rank < 4; ++rank) left.take_out(part_of({20}, {0}, {12}));
  EXPECT_EQ(left.elements(), 8U);
  left.take_out(part_of({20}, {14}, {2}));
  EXPECT_EQ(left.elements(), 6U);
  left.take_out(part_of({20}, {5}, {15}));
  EXPECT_EQ(left.elements(), 0U);
}

TEST(Unfound, is_nothing_of_a_part_without_elements) {
  EXPECT_EQ(mend::Unfound(part_of({20}, {5}, {0})).elements(), 0U);
  EXPECT_EQ(mend::Unfound(part_of({0}, {0}, {0})).elements(), 0U);
}

TEST(Unfound, is_a_hole_in_the_middle_that_all_sides_leave) {
  mend::Unfound left(part_of({4, 4, 4}, {0, 0, 0}, {4, 4, 4}));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const std::size_t side : {0U, 3U}) {
      ArrayPart face = part_of({4, 4, 4}, {0, 0, 0}, {4, 4, 4});
      face.offset[axis] = side;
      face.extents[axis] = 1;
      left.take_out(face);
    }
  }
  EXPECT_EQ(left.elements(), 8U);
}

TEST(Unfound, is_what_no_part_covers_however_they_overlap) {
  std::mt19937 random(11);
  const auto any = [&](std::size_t least, std::size_t most) { return least + random() % (most - least + 1); };
  for (int round = 0; round < 500; ++round) {
    Extents whole(any(1, 3));
    for (auto& extent : whole) extent = any(1, 6);
    const auto any_part = [&] {
      ArrayPart part = part_of(whole, whole, whole);
      for (std::size_t axis = 0; axis < whole.size(); ++axis) {
        part.offset[axis] = any(0, whole[axis]);
        part.extents[axis] = any(0, whole[axis] - part.offset[axis]);
      }
      return part;
    };
    const ArrayPart wanted = any_part();
    const auto numbers = numbered(wanted);
    std::set<std::uint16_t> expected(numbers.begin(), numbers.end());
    mend::Unfound left(wanted);
    for (std::size_t count = any(0, 8); count > 0; --count) {
      const ArrayPart found = any_part();
      left.take_out(found);
      for (const std::uint16_t place : numbered(found)) expected.erase(place);
      ASSERT_EQ(left.elements(), expected.size()) << to_string(found) << " of " << to_string(wanted);
    }
  }
}

}  // namespace
