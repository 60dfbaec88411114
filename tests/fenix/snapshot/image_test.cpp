// Where members lie in the snapshot that is being made.

#include "fenix/data/snapshot/image.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace {

using mend::page_bytes;
using mend::fenix::Image;

using Data = std::vector<std::byte>;

struct Slot {
  mend::Bytes block;
  std::optional<mend::SnapshotInParts> parts;
  Image image{
      [this](std::size_t bytes) -> mend::SnapshotInParts& { return parts.emplace("group", "", bytes, block, false); }};

  Data at(int id, std::size_t bytes) const {
    const auto lies = image.at(image.offset_of(id), bytes);
    return {lies.begin(), lies.end()};
  }
};

Data filled_with(std::size_t size, int value) { return Data(size, static_cast<std::byte>(value)); }

TEST(AnImage, has_the_places_that_it_had) {
  Slot slot;
  slot.image.begin({{3, 10}, {5, 3 * page_bytes}, {8, page_bytes}});
  const std::size_t first = slot.image.offset_of(5);
  EXPECT_EQ(first % page_bytes, 0U);  // a member of a page or more begins on one
  EXPECT_EQ(slot.image.offset_of(8) % page_bytes, 0U);
  slot.image.end();
  slot.image.begin({{3, 10}, {5, 2 * page_bytes}, {8, page_bytes}});
  EXPECT_EQ(slot.image.offset_of(5), first);
}

TEST(AnImage, keeps_what_members_have_when_one_grows) {
  Slot slot;
  slot.image.begin({{1, 100}, {2, 200}});
  slot.image.write(1, 0, filled_with(100, 1));
  slot.image.write(2, 0, filled_with(200, 2));
  slot.image.make_room(1, 5 * page_bytes);
  slot.image.write(1, 100, filled_with(5 * page_bytes - 100, 3));
  Data expected = filled_with(5 * page_bytes, 3);
  std::fill_n(expected.begin(), 100, std::byte{1});
  EXPECT_EQ(slot.at(1, 5 * page_bytes), expected);
  EXPECT_EQ(slot.at(2, 200), filled_with(200, 2));
}

TEST(AnImage, finds_its_record_wherever_that_lies) {
  for (const std::size_t size : {10U, 100'000U}) {
    Slot slot;
    slot.image.begin({{1, 100}});
    slot.image.write(1, 0, filled_with(100, 1));
    const Data record = filled_with(size, 9);
    slot.image.write_record(record);
    const auto found = mend::fenix::record_in(slot.parts->data());
    EXPECT_EQ(Data(found.begin(), found.end()), record);
    EXPECT_EQ(slot.at(1, 100), filled_with(100, 1));
  }
}

TEST(AnImage, gives_up_places_that_are_much_too_large) {
  Slot slot;
  slot.image.begin({{1, 100 * page_bytes}});
  slot.image.end();
  const std::size_t before = slot.block.size();
  slot.image.begin({{1, page_bytes}});
  EXPECT_LT(slot.block.size(), before / 10);
}

}  // namespace
