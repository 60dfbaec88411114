#include "agreement/wire.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace mend::agreement {
namespace {

Message with_everything() {
  Message message;
  message.kind = Message::Kind::forced_nak;
  message.agreement = {1ULL << 40U};
  message.tally.counted = true;
  message.tally.operation = Operation::maximum;
  message.tally.value.words = {1, 0, 3, 0};
  message.tally.returned = {{5}, {9}};
  message.tally.sets.open().members = ProcessSet{Member{1}, Member{4}};
  message.tally.sets.open().failed = ProcessSet::first(3);
  message.tally.sets.open().acknowledged = ProcessSet{Member{0}};
  message.round = {Member{2}, 7};
  message.subtree_first = Member{3};
  message.subtree_last = Member{12};
  return message;
}

std::vector<std::byte> written(const Message& message) {
  std::vector<std::byte> bytes;
  write(message, bytes);
  return bytes;
}

TEST(Wire, brings_every_part_of_a_message_back) {
  const Message message = with_everything();
  EXPECT_EQ(read(written(message)), message);
  EXPECT_EQ(written(message).size(), wire_size(message));
}

TEST(Wire, spends_bytes_only_on_what_is_there) {
  Message bare;
  bare.kind = Message::Kind::result_request;
  EXPECT_EQ(read(written(bare)), bare);
  EXPECT_EQ(wire_size(bare), 12U);
  Message up;
  up.tally.counted = true;
  up.tally.value.words[0] = 0xff;
  EXPECT_EQ(wire_size(up), 20U);
  up.tally.returned = {{0}, {4}};
  EXPECT_EQ(wire_size(up), 36U);
  EXPECT_EQ(read(written(up)), up);
}

TEST(Wire, refuses_bytes_that_are_no_message) {
  const std::vector<std::byte> bytes = written(with_everything());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(read(std::span(bytes).first(length)), EnvironmentError) << length << " bytes";
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(read(longer), EnvironmentError);
  std::vector<std::byte> unknown = bytes;
  unknown[0] = std::byte{200};
  EXPECT_THROW(read(unknown), EnvironmentError);
}

}  // namespace
}  // namespace mend::agreement
