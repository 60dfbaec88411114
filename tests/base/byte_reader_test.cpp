#include "base/byte_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace {

using mend::ByteReader;
using testing::ElementsAre;

struct Refused {};
void refuse() { throw Refused(); }

std::vector<std::byte> some_bytes() {
  std::vector<std::byte> bytes;
  mend::append(std::uint16_t{7}, bytes);
  mend::append(std::uint64_t{9}, bytes);
  mend::append(std::uint32_t{3}, bytes);
  mend::append(std::uint32_t{4}, bytes);
  return bytes;
}

TEST(AByteReader, takes_what_was_appended) {
  const auto bytes = some_bytes();
  ByteReader reader(bytes, refuse);
  EXPECT_EQ(reader.take<std::uint16_t>(), 7);
  EXPECT_EQ(reader.take<std::uint64_t>(), 9U);
  EXPECT_THROW(reader.expect_end(), Refused);
  EXPECT_THAT(reader.take_all<std::uint32_t>(2), ElementsAre(3U, 4U));
  EXPECT_NO_THROW(reader.expect_end());
}

TEST(AByteReader, reads_nothing_beyond_the_end) {
  const auto bytes = some_bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ByteReader reader{std::span<const std::byte>(bytes).first(length), refuse};
    const auto read_all = [&] {
      reader.take<std::uint16_t>();
      reader.take<std::uint64_t>();
      reader.take_all<std::uint32_t>(2);
    };
    EXPECT_THROW(read_all(), Refused) << "of " << length << " bytes";
  }
}

TEST(AByteReader, refuses_a_count_that_cannot_be_true_before_it_reserves_memory) {
  const auto bytes = some_bytes();
  ByteReader reader(bytes, refuse);
  EXPECT_THROW(reader.take_all<std::uint64_t>(std::numeric_limits<std::size_t>::max()), Refused);
  EXPECT_THROW(reader.take_all<std::uint64_t>(std::numeric_limits<std::size_t>::max() / 8 + 2), Refused);
  EXPECT_THROW(reader.take(bytes.size() + 1), Refused);
  EXPECT_EQ(reader.left().size(), bytes.size()) << "a refusal takes nothing";
}

}  // namespace
