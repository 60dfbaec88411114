#include "store/snapshot/version_slots.hpp"

#include "store/restore/inventory.hpp"

#include <gmock/gmock.h>

#include <set>

namespace {

using mend::Block;
using mend::ByteRange;
using mend::Kept;
using mend::Rank;
using mend::Version;
using mend::VersionSlots;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr mend::ByteCount parity_bytes = mend::page_bytes + 100;
const Block parity_block{{Rank{1}, Rank{2}, Rank{4}}, 1};

Kept& keep(VersionSlots& version_slots, const Block& block, Version version) {
  Kept& kept = version_slots.slot_for(block, version);
  kept.sizes = {100, 200, 300};
  kept.bytes.resize(parity_bytes);
  for (std::size_t i = 0; i < parity_bytes; ++i) kept.bytes[i] = static_cast<std::byte>(i * 7 + version.value);
  seal(block, version, std::vector<ByteRange>{{0, parity_bytes}}, kept);
  return kept;
}
void keep_published(VersionSlots& version_slots, const Block& block, Version version) {
  keep(version_slots, block, version);
  version_slots.publish(block, version);
}

std::vector<std::uint64_t> versions(VersionSlots& version_slots) {
  std::vector<std::uint64_t> all;
  version_slots.visit([&](const Block&, Kept& kept) { all.push_back(kept.version.value); });
  std::sort(all.begin(), all.end());
  return all;
}

TEST(VersionSlots, show_what_is_published_alone) {
  VersionSlots version_slots(2);
  keep(version_slots, parity_block, Version{1});
  EXPECT_THAT(versions(version_slots), IsEmpty());
  version_slots.publish(parity_block, Version{1});
  EXPECT_THAT(versions(version_slots), ElementsAre(1));
}

TEST(VersionSlots, keep_as_many_versions_as_they_have_slots) {
  for (int slots : {2, 3, 5}) {
    VersionSlots version_slots(slots);
    for (std::uint64_t version = 1; version <= 10; ++version)
      keep_published(version_slots, parity_block, Version{version});
    const auto kept = versions(version_slots);
    ASSERT_EQ(kept.size(), static_cast<std::size_t>(slots));
    EXPECT_EQ(kept.back(), 10U);
    EXPECT_EQ(kept.front(), 11U - static_cast<unsigned>(slots));
  }
}

TEST(VersionSlots, never_give_room_at_the_cost_of_the_newest_version) {
  VersionSlots version_slots(2);
  keep_published(version_slots, parity_block, Version{1});
  keep_published(version_slots, parity_block, Version{2});
  version_slots.slot_for(parity_block, Version{3});
  EXPECT_THAT(versions(version_slots), ElementsAre(2));
}

TEST(VersionSlots, keep_a_version_that_is_held_until_it_is_let_go) {
  VersionSlots version_slots(2);
  keep_published(version_slots, parity_block, Version{1});
  keep_published(version_slots, parity_block, Version{2});
  version_slots.hold(Version{2});
  for (std::uint64_t version = 3; version <= 8; ++version) {
    keep_published(version_slots, parity_block, Version{version});
    version_slots.forget_old(Version{version});
    EXPECT_EQ(versions(version_slots).front(), 2U) << version;
    EXPECT_EQ(version_slots.at(parity_block, Version{2}).version, Version{2});
    EXPECT_EQ(mend::find_damage(parity_block, version_slots.at(parity_block, Version{2})), std::nullopt);
  }
  EXPECT_THAT(versions(version_slots), ElementsAre(2, 7, 8));
  version_slots.let_go(Version{2});
  EXPECT_THAT(versions(version_slots), ElementsAre(7, 8));
}

TEST(VersionSlots, hold_as_many_versions_as_they_are_told_to) {
  VersionSlots version_slots(2);
  for (std::uint64_t version = 1; version <= 8; ++version) {
    keep_published(version_slots, parity_block, Version{version});
    if (version == 2 || version == 5) version_slots.hold(Version{version});
  }
  EXPECT_THAT(versions(version_slots), ElementsAre(2, 5, 7, 8));
  version_slots.forget_newer(Version{5});
  version_slots.let_go(Version{5});
  EXPECT_THAT(versions(version_slots), ElementsAre(2, 5));
  version_slots.let_go(Version{5});  // no longer held
  version_slots.let_go(Version{2});
  EXPECT_THAT(versions(version_slots), ElementsAre(2, 5));
}

TEST(VersionSlots, go_on_from_a_version_that_was_held) {
  VersionSlots version_slots(2);
  keep_published(version_slots, parity_block, Version{2});
  version_slots.hold(Version{2});
  for (std::uint64_t version = 3; version <= 8; ++version)
    keep_published(version_slots, parity_block, Version{version});
  version_slots.forget_newer(Version{2});
  version_slots.let_go(Version{2});
  EXPECT_THAT(versions(version_slots), ElementsAre(2));
  keep_published(version_slots, parity_block, Version{3});
  EXPECT_THAT(versions(version_slots), ElementsAre(2, 3));
  keep_published(version_slots, parity_block, Version{4});
  EXPECT_THAT(versions(version_slots), ElementsAre(3, 4));
}

TEST(VersionSlots, forget_newer_versions_and_blocks_that_are_too_old) {
  VersionSlots version_slots(3);
  const Block other = Block::snapshot_of(Rank{5});
  keep_published(version_slots, other, Version{1});
  for (std::uint64_t version = 1; version <= 3; ++version)
    keep_published(version_slots, parity_block, Version{version});
  version_slots.forget_old(Version{3});
  EXPECT_THAT(versions(version_slots), ElementsAre(1, 1, 2, 3));
  keep_published(version_slots, parity_block, Version{4});
  const auto memory = version_slots.memory();
  version_slots.forget_old(Version{4});
  EXPECT_THAT(versions(version_slots), ElementsAre(2, 3, 4));
  EXPECT_EQ(version_slots.memory(), memory - parity_bytes);
  version_slots.forget_newer(Version{2});
  EXPECT_THAT(versions(version_slots), ElementsAre(2));
}

TEST(VersionSlots, know_the_version_of_the_turn_before_alone) {
  VersionSlots version_slots(2);
  EXPECT_EQ(version_slots.older_in_slot(parity_block, Version{2}), Version{});
  for (std::uint64_t version = 1; version <= 3; ++version)
    keep_published(version_slots, parity_block, Version{version});
  EXPECT_EQ(version_slots.older_in_slot(parity_block, Version{4}), Version{2});
  keep_published(version_slots, parity_block, Version{5});  // 4 was made without this block
  EXPECT_EQ(version_slots.older_in_slot(parity_block, Version{6}), Version{}) << "2 is older than the turn before";
  EXPECT_EQ(version_slots.older_in_slot(parity_block, Version{7}), Version{5});
  version_slots.hold(Version{5});
  EXPECT_EQ(version_slots.older_in_slot(parity_block, Version{7}), Version{});
}

TEST(Parities, with_any_bit_flipped_are_found_damaged) {
  VersionSlots version_slots(2);
  keep_published(version_slots, parity_block, Version{3});
  Kept& kept = version_slots.at(parity_block, Version{3});
  EXPECT_EQ(find_damage(parity_block, kept), std::nullopt);
  const auto expect_found_in = [&](std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        byte ^= std::byte{static_cast<unsigned char>(1U << bit)};
        ASSERT_TRUE(find_damage(parity_block, kept));
        byte ^= std::byte{static_cast<unsigned char>(1U << bit)};
      }
    }
  };
  expect_found_in(std::span(kept.bytes).first(200));
  expect_found_in(std::span(kept.bytes).last(200));
  expect_found_in(std::as_writable_bytes(std::span(kept.hashes)));
  expect_found_in(std::as_writable_bytes(std::span(kept.sizes)));
  expect_found_in(std::as_writable_bytes(std::span(&kept.version, 1)));
  expect_found_in(std::as_writable_bytes(std::span(&kept.seal, 1)));
  EXPECT_EQ(find_damage(parity_block, kept), std::nullopt);
}

TEST(Parities, that_are_damaged_where_nothing_is_new_stay_so_and_are_found) {
  VersionSlots version_slots(2);
  keep_published(version_slots, parity_block, Version{3});
  Kept& kept = version_slots.at(parity_block, Version{3});
  kept.bytes.back() ^= std::byte{1};
  kept.bytes.front() ^= std::byte{1};
  seal(parity_block, Version{3}, std::vector<ByteRange>{{0, 1}}, kept);
  EXPECT_TRUE(find_damage(parity_block, kept));
  kept.bytes.back() ^= std::byte{1};
  EXPECT_FALSE(find_damage(parity_block, kept));
}

TEST(Parities, of_another_stripe_or_row_are_not_taken_for_the_right_one) {
  VersionSlots version_slots(2);
  keep_published(version_slots, parity_block, Version{3});
  const Kept& kept = version_slots.at(parity_block, Version{3});
  EXPECT_TRUE(find_damage({parity_block.owners, 0}, kept));
  EXPECT_TRUE(find_damage({{Rank{1}, Rank{2}, Rank{5}}, 1}, kept));
}

TEST(Inventory, is_read_as_it_is_written) {
  std::vector<std::uint64_t> numbers;
  mend::write_committed({Version{2}, Version{4}}, numbers);
  write_holding(parity_block, Kept{Version{3}, {10, 20, 30}, mend::Bytes(64), {}, 0}, numbers);
  write_holding(Block::snapshot_of(Rank{6}), Kept{Version{4}, {99}, mend::Bytes(99), {}, 0}, numbers);
  numbers.resize(numbers.size() + 9);
  mend::Inventory read;
  read_inventory(Rank{8}, numbers, read);
  EXPECT_THAT(read.committed, ElementsAre(Version{2}, Version{4}));
  EXPECT_THAT(read.versions(), ElementsAre(Version{2}, Version{3}, Version{4}));
  const std::vector<mend::Holding>& inventory = read.holdings;
  ASSERT_EQ(inventory.size(), 2U);
  EXPECT_EQ(inventory[0].holder, Rank{8});
  EXPECT_EQ(inventory[0].version, Version{3});
  EXPECT_EQ(inventory[0].block, parity_block);
  EXPECT_EQ(inventory[0].length, 64U);
  EXPECT_THAT(inventory[0].sizes, ElementsAre(10, 20, 30));
  EXPECT_EQ(inventory[1].block, Block::snapshot_of(Rank{6}));
  EXPECT_THAT(inventory[1].sizes, ElementsAre(99));
}

}  // namespace
