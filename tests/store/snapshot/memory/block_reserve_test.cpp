#include "store/snapshot/memory/block_reserve.hpp"

#include "store/snapshot/bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace {

using mend::BlockReserve;
using mend::ByteCount;
using mend::Bytes;
using mend::large_page;

bool go_on() { return true; }

/// The number of pages of this memory that the kernel has provided.
std::size_t resident_pages(void* memory, ByteCount bytes) {
  std::vector<unsigned char> pages(bytes / 4096);
  if (::mincore(memory, bytes, pages.data()) != 0) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
}

class ABlockReserve : public testing::Test {
 protected:
  void prepare(const std::vector<ByteCount>& sizes) { reserve_.prepare(sizes, go_on); }
  ~ABlockReserve() override { prepare({}); }

  BlockReserve& reserve_ = BlockReserve::instance();
};

TEST_F(ABlockReserve, has_nothing_until_it_is_told_what_to_have) { EXPECT_EQ(reserve_.take(large_page), nullptr); }

TEST_F(ABlockReserve, is_where_large_blocks_come_from) {
  prepare({4 * large_page, 3 * large_page});
  EXPECT_EQ(reserve_.bytes(), 7 * large_page);
  {
    Bytes block(3 * large_page);
    std::ranges::fill(block, std::byte{7});
    EXPECT_EQ(reserve_.bytes(), 4 * large_page);
    const Bytes another(4 * large_page - 5);
    EXPECT_EQ(reserve_.bytes(), 0U);
    const Bytes third(4 * large_page);
    EXPECT_EQ(third.size(), 4 * large_page) << "there is other memory, too";
  }
  EXPECT_EQ(reserve_.bytes(), 0U) << "what was taken is freed like any other";
}

TEST_F(ABlockReserve, is_left_alone_by_small_blocks_and_by_those_much_smaller_or_larger_than_it_has) {
  prepare({4 * large_page});
  const Bytes small(large_page - 1);
  const Bytes smaller(2 * large_page - 1);
  const Bytes larger(4 * large_page + 1);
  EXPECT_EQ(reserve_.bytes(), 4 * large_page);
}

TEST_F(ABlockReserve, has_what_it_was_told_last) {
  prepare({4 * large_page});
  prepare({2 * large_page, 100});
  EXPECT_EQ(reserve_.bytes(), 2 * large_page) << "small blocks need no reserve";
}

TEST_F(ABlockReserve, whose_time_is_over_is_good_all_the_same) {
  reserve_.prepare(std::vector<ByteCount>{64 * large_page}, [] { return false; });
  Bytes block(64 * large_page);
  block.back() = std::byte{1};
  EXPECT_EQ(reserve_.bytes(), 0U);
}

TEST_F(ABlockReserve, has_pages_for_all_of_its_memory) {
  prepare({40 * large_page});
  void* const memory = reserve_.take(40 * large_page);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(resident_pages(memory, 40 * large_page), 40 * large_page / 4096) << "before anybody has written to it";
  mend::delete_large(memory, 40 * large_page);
}

TEST_F(ABlockReserve, stays_empty_when_there_is_no_memory) {
  prepare({large_page, ByteCount{1} << 60});
  EXPECT_EQ(reserve_.bytes(), 0U);
}

TEST_F(ABlockReserve, is_freed_when_nobody_needs_it) {
  prepare({4 * large_page});
  reserve_.clear();
  EXPECT_EQ(reserve_.bytes(), 0U);
}

TEST(ABlock, has_little_more_memory_than_it_needs_however_its_size_changes) {
  Bytes block;
  mend::resize_block(block, 1000);
  EXPECT_EQ(block.capacity(), 1000U);
  for (ByteCount size = 1000; size < 3 * large_page; size += size / 50) {
    mend::resize_block(block, size);
    ASSERT_EQ(block.size(), size);
    ASSERT_LE(block.capacity(), size + size / 8);
    block[999] = std::byte{42};
    mend::resize_block(block, size);
    ASSERT_EQ(block[999], std::byte{42}) << "the size is the same";
  }
  mend::resize_block(block, 1000);
  EXPECT_EQ(block.capacity(), 1000U);
}

/// Forgets the peak of this process's resident memory. Returns false if the kernel cannot.
bool forget_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush); }

/// Returns the peak of this process's resident memory since then.
ByteCount resident_peak() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (ByteCount kib = 0; word == "VmHWM:" && status >> kib) return kib << 10;
  }
  return 0;
}

TEST(ABlock, that_grows_frees_its_memory_before_it_takes_more) {
  constexpr ByteCount size = 64 * large_page;
  Bytes block;
  mend::resize_block(block, size);
  std::ranges::fill(block, std::byte{1});
  if (!forget_peak()) GTEST_SKIP() << "this kernel does not forget the peak of resident memory";
  const ByteCount before = resident_peak();
  mend::resize_block(block, size + size / 4);
  EXPECT_LT(resident_peak(), before + 3 * size / 4);  // at most a quarter more, and an eighth to grow
}

TEST(RoomToGrow, is_an_eighth_at_most_and_the_same_for_sizes_nearly_the_same) {
  for (ByteCount size = large_page; size < 100 * large_page; size += 12345) {
    const ByteCount roomy = mend::with_room_to_grow(size);
    ASSERT_GE(roomy, size);
    ASSERT_LT(roomy, size + std::max(large_page, size / 8));
  }
  EXPECT_EQ(mend::with_room_to_grow(ByteCount{100} << 20), mend::with_room_to_grow((ByteCount{100} << 20) + 4096));
}

}  // namespace
