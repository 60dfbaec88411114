#include "agreement/wire.hpp"

#include "base/error.hpp"
#include "tests/support/fuzz.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace mend::agreement {
namespace {

constexpr std::uint32_t members = 20;
using Run = ProcessSet::Run;

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
  EXPECT_EQ(read(written(message), members), message);
  EXPECT_EQ(written(message).size(), wire_size(message));
}

TEST(Wire, spends_bytes_only_on_what_is_there) {
  Message bare;
  bare.kind = Message::Kind::result_request;
  EXPECT_EQ(read(written(bare), members), bare);
  EXPECT_EQ(wire_size(bare), 12U);
  Message up;
  up.tally.counted = true;
  up.tally.value.words[0] = 0xff;
  EXPECT_EQ(wire_size(up), 20U);
  up.tally.returned = {{0}, {4}};
  EXPECT_EQ(wire_size(up), 36U);
  EXPECT_EQ(read(written(up), members), up);
}

TEST(Wire, refuses_bytes_that_are_no_message) {
  const std::vector<std::byte> bytes = written(with_everything());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(read(std::span(bytes).first(length), members), EnvironmentError) << length << " bytes";
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(read(longer, members), EnvironmentError);
  const auto with = [&](std::size_t at, std::uint8_t value) {
    std::vector<std::byte> changed = bytes;
    changed.at(at) = std::byte{value};
    return changed;
  };
  EXPECT_THROW(read(with(0, 200), members), EnvironmentError) << "of no kind";
  EXPECT_THROW(read(with(1, 4), members), EnvironmentError) << "an operation that this group has not";
  EXPECT_EQ(read(with(1, 4), members, 5).tally.operation, Operation::first_user);
  EXPECT_THROW(read(with(2, 0x1f), members), EnvironmentError) << "a part that nobody knows";
  EXPECT_THROW(read(with(3, 5), members), EnvironmentError) << "more words than a value has";
  EXPECT_THROW(read(bytes, 12), EnvironmentError) << "speaks of member 12 of 12";
}

/// Returns a message whose set of the members holds these runs, in a form that write() never makes.
std::vector<std::byte> with_runs(const std::vector<Run>& runs) {
  Message message;
  message.tally.counted = true;
  message.tally.sets.open();
  std::vector<std::byte> bytes = written(message);
  const auto count = static_cast<std::uint32_t>(runs.size());
  std::memcpy(bytes.data() + bytes.size() - 4 * sizeof count, &count, sizeof count);
  const auto* const begin = reinterpret_cast<const std::byte*>(runs.data());
  bytes.insert(bytes.end() - 3 * sizeof count, begin, begin + runs.size() * sizeof(Run));
  return bytes;
}

TEST(Wire, refuses_sets_that_are_none_or_speak_of_others) {
  const Message read_back = read(with_runs({{{1}, {2}}, {{4}, {19}}}), members);
  EXPECT_EQ(read_back.tally.sets.get()->members.size(), 18U);
  EXPECT_THROW(read(with_runs({{{4}, {5}}, {{1}, {2}}}), members), EnvironmentError) << "descending";
  EXPECT_THROW(read(with_runs({{{1}, {5}}, {{4}, {7}}}), members), EnvironmentError) << "overlapping";
  EXPECT_THROW(read(with_runs({{{1}, {2}}, {{3}, {4}}}), members), EnvironmentError) << "two that are one";
  EXPECT_THROW(read(with_runs({{{5}, {4}}}), members), EnvironmentError) << "ends before it begins";
  EXPECT_THROW(read(with_runs({{{1}, {members}}}), members), EnvironmentError) << "beyond the group";
  EXPECT_THROW(read(with_runs({{{0}, {0xffffffff}}}), members), EnvironmentError) << "four thousand million members";
  EXPECT_THROW(read(with_runs({{{0}, {0xffffffff}}, {{0}, {1}}}), members), EnvironmentError) << "beyond all numbers";
}

TEST(Wire, reads_any_bytes_or_refuses_them) {
  support::expect_read_or_refused<EnvironmentError>(
      [](support::Fuzzer& fuzzer) { return fuzzer.change(written(with_everything())); },
      [](const std::vector<std::byte>& bytes) {
        EXPECT_EQ(written(read(bytes, members)), bytes) << "what is read is what was written";
      });
}

}  // namespace
}  // namespace mend::agreement
