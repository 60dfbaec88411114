// A snapshot that is packed part by part is the one that would be packed at once.

#include "store/snapshot/snapshot_in_parts.hpp"

#include "tests/store/random_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using mend::ByteRange;
using mend::Changes;
using mend::page_bytes;
using mend::Rank;
using mend::SnapshotInParts;
using mend::Version;

SnapshotInParts in_parts(mend::Bytes& block, std::size_t size, bool over_older = false) {
  return {"member", "shape", size, block, over_older};
}

/// What the snapshot has, after all of it was found sound.
PlainBytes sound_data(const mend::Bytes& block, Version version) {
  EXPECT_EQ(mend::find_damage(block, Rank{2}, version), std::nullopt);
  const auto members = mend::members_of(block);
  EXPECT_EQ(members.size(), 1U);
  return {members.front().data.begin(), members.front().data.end()};
}

/// Begins a snapshot over one that has the data already.
SnapshotInParts begun_over(mend::Bytes& block, const PlainBytes& data) {
  SnapshotInParts older = in_parts(block, data.size());
  older.write(0, data);
  older.finish(Rank{2}, Version{1});
  return in_parts(block, data.size(), true);
}

TEST(ASnapshotInParts, has_what_was_written) {
  const PlainBytes data = random_bytes(5 * page_bytes + 640, 1);
  mend::Bytes block;
  SnapshotInParts parts = in_parts(block, data.size());
  parts.write(page_bytes / 2, std::span(data).subspan(page_bytes / 2));
  parts.write(0, std::span(data).first(page_bytes / 2));
  const Changes changes = parts.finish(Rank{2}, Version{1});
  EXPECT_TRUE(changes.everything);
  EXPECT_EQ(sound_data(block, Version{1}), data);
}

TEST(ASnapshotInParts, over_an_older_one_names_the_pages_that_differ) {
  PlainBytes data = random_bytes(6 * page_bytes, 2);
  mend::Bytes block;
  SnapshotInParts older = in_parts(block, data.size());
  older.write(0, data);
  older.finish(Rank{2}, Version{1});
  const std::size_t begin = block.size() - data.size();

  data[2 * page_bytes] ^= std::byte{1};
  data[5 * page_bytes + 3] ^= std::byte{1};
  SnapshotInParts parts = in_parts(block, data.size(), true);
  parts.write(0, std::span(data).first(4 * page_bytes));
  parts.write(5 * page_bytes, std::span(data).subspan(5 * page_bytes, 100));  // a part of a page
  const Changes changes = parts.finish(Rank{2}, Version{3});
  EXPECT_FALSE(changes.everything);
  const std::vector<ByteRange> expected{
      {0, begin}, {begin + 2 * page_bytes, begin + 3 * page_bytes}, {begin + 5 * page_bytes, begin + 6 * page_bytes}};
  EXPECT_EQ(changes.ranges, expected);
  EXPECT_EQ(changes.of_members, std::vector<mend::ByteCount>{2 * page_bytes});
  EXPECT_EQ(sound_data(block, Version{3}), data);
}

TEST(ASnapshotInParts, a_page_that_is_written_twice_has_the_second_value) {
  PlainBytes data = random_bytes(2 * page_bytes, 3);
  mend::Bytes block;
  SnapshotInParts parts = begun_over(block, data);
  const PlainBytes others = random_bytes(2 * page_bytes, 4);
  parts.write(10, std::span(others).first(100));
  parts.write(0, std::span(data).first(page_bytes));  // as it was: its hash says so, its bytes do not
  parts.write(page_bytes, std::span(others).first(page_bytes));
  parts.write(page_bytes, std::span(data).subspan(page_bytes));
  parts.finish(Rank{2}, Version{3});
  EXPECT_EQ(sound_data(block, Version{3}), data);
}

TEST(ASnapshotInParts, keeps_what_was_written_when_it_grows) {
  const PlainBytes data = random_bytes(3 * page_bytes, 5);
  mend::Bytes block;
  SnapshotInParts parts = in_parts(block, 2 * page_bytes);
  parts.write(0, std::span(data).first(2 * page_bytes));
  parts.resize(3 * page_bytes);
  parts.write(2 * page_bytes, std::span(data).subspan(2 * page_bytes));
  EXPECT_TRUE(parts.finish(Rank{2}, Version{1}).everything);
  EXPECT_EQ(sound_data(block, Version{1}), data);
}

TEST(ASnapshotInParts, over_one_with_damaged_hashes_is_new_as_a_whole) {
  const PlainBytes data = random_bytes(6 * page_bytes, 7);
  mend::Bytes block;
  SnapshotInParts older = in_parts(block, data.size());
  older.write(0, data);
  older.finish(Rank{2}, Version{1});
  const std::size_t begin = block.size() - data.size();
  block[begin - 64] ^= std::byte{1};
  SnapshotInParts parts = in_parts(block, data.size(), true);
  parts.write(0, data);
  EXPECT_TRUE(parts.finish(Rank{2}, Version{2}).everything);
  EXPECT_EQ(sound_data(block, Version{2}), data);
}

TEST(ASnapshotInParts, of_another_size_than_the_older_one_is_new_as_a_whole) {
  const PlainBytes data = random_bytes(2 * page_bytes, 6);
  mend::Bytes block;
  in_parts(block, 3 * page_bytes).finish(Rank{2}, Version{1});
  SnapshotInParts parts = in_parts(block, data.size(), true);
  parts.write(0, data);
  EXPECT_TRUE(parts.finish(Rank{2}, Version{3}).everything);
  EXPECT_EQ(sound_data(block, Version{3}), data);
}

TEST(ASnapshotInParts, is_new_as_a_whole_when_it_is_committed_once_more) {
  const PlainBytes data = random_bytes(2 * page_bytes, 7);
  mend::Bytes block;
  in_parts(block, data.size()).finish(Rank{2}, Version{1});
  SnapshotInParts parts = in_parts(block, data.size(), true);
  parts.write(0, std::span(data).first(page_bytes));
  EXPECT_FALSE(parts.finish(Rank{2}, Version{3}).everything);
  parts.write(page_bytes, std::span(data).subspan(page_bytes));
  EXPECT_TRUE(parts.finish(Rank{2}, Version{3}).everything);
  EXPECT_EQ(sound_data(block, Version{3}), data);
}

TEST(ASnapshotInParts, tells_a_flipped_bit) {
  const PlainBytes data = random_bytes(2 * page_bytes, 8);
  mend::Bytes block;
  SnapshotInParts parts = in_parts(block, data.size());
  parts.write(0, data);
  parts.finish(Rank{2}, Version{1});
  block.back() ^= std::byte{4};
  EXPECT_NE(mend::find_damage(block, Rank{2}, Version{1}), std::nullopt);
}

/// Packs the data over a snapshot that has it already, and damages the middle one of three pages.
SnapshotInParts damaged_after_a_refusal(mend::Bytes& block, const PlainBytes& data) {
  SnapshotInParts parts = begun_over(block, data);
  parts.write(0, data);
  EXPECT_FALSE(parts.finish(Rank{2}, Version{3}).everything);
  EXPECT_FALSE(parts.has_older_pages());
  parts.data()[page_bytes + 5] ^= std::byte{1};
  return parts;
}

TEST(ASnapshotInParts, copies_what_is_written_once_more_after_a_commit_was_refused) {
  const PlainBytes data = random_bytes(3 * page_bytes, 10);
  mend::Bytes block;
  SnapshotInParts parts = damaged_after_a_refusal(block, data);
  parts.write(0, data);
  EXPECT_TRUE(parts.finish(Rank{2}, Version{3}).everything);
  EXPECT_TRUE(parts.has_older_pages());
  EXPECT_EQ(sound_data(block, Version{3}), data);
}

TEST(ASnapshotInParts, does_not_hide_damage_behind_a_new_hash) {
  const PlainBytes data = random_bytes(3 * page_bytes, 11);
  mend::Bytes block;
  SnapshotInParts parts = damaged_after_a_refusal(block, data);
  parts.write(page_bytes + 100, std::span(data).subspan(page_bytes + 100, 50));
  parts.finish(Rank{2}, Version{3});
  EXPECT_NE(mend::find_damage(block, Rank{2}, Version{3}), std::nullopt);
  parts.resize(4 * page_bytes);
  parts.finish(Rank{2}, Version{3});
  EXPECT_NE(mend::find_damage(block, Rank{2}, Version{3}), std::nullopt);
}

TEST(ASnapshotInParts, tells_damage_of_a_page_that_was_written_whole_and_then_in_part) {
  const PlainBytes data = random_bytes(3 * page_bytes, 13);
  for (const bool has_it_already : {false, true}) {
    mend::Bytes block;
    SnapshotInParts parts = has_it_already ? begun_over(block, data) : in_parts(block, data.size());
    parts.write(0, data);
    parts.data()[page_bytes + 5] ^= std::byte{1};
    parts.write(page_bytes + 100, std::span(data).subspan(page_bytes + 100, 50));
    const Changes changes = parts.finish(Rank{2}, Version{3});
    EXPECT_NE(mend::find_damage(block, Rank{2}, Version{3}), std::nullopt);
    EXPECT_TRUE(parts.has_older_pages());  // the commit checks what it uses, and it uses that page
    EXPECT_EQ(changes.of_members.front(), has_it_already ? page_bytes : 3 * page_bytes);
    parts.write(0, data);
    parts.finish(Rank{2}, Version{3});
    EXPECT_EQ(sound_data(block, Version{3}), data);
  }
}

TEST(ASnapshotInParts, takes_damage_where_nothing_was_written_for_any_value) {
  const PlainBytes data = random_bytes(2 * page_bytes, 12);
  mend::Bytes block;
  SnapshotInParts parts = begun_over(block, data);
  parts.write(0, std::span(data).first(page_bytes));
  parts.finish(Rank{2}, Version{3});
  block.back() ^= std::byte{1};
  parts.finish(Rank{2}, Version{3});
  EXPECT_EQ(mend::find_damage(block, Rank{2}, Version{3}), std::nullopt);
}

TEST(ASnapshotInParts, clears_what_it_is_told_to) {
  PlainBytes data = random_bytes(2 * page_bytes, 9);
  mend::Bytes block;
  SnapshotInParts parts = in_parts(block, data.size());
  parts.write(0, data);
  parts.clear({100, page_bytes + 77});
  std::fill(data.begin() + 100, data.begin() + page_bytes + 77, std::byte{});
  parts.finish(Rank{2}, Version{1});
  EXPECT_EQ(sound_data(block, Version{1}), data);
}

}  // namespace
