#include "detector/wire.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <random>

namespace mend::detector {
namespace {

std::vector<std::byte> written(const Message& message) {
  std::vector<std::byte> bytes;
  write(message, bytes);
  return bytes;
}

Message deaths() { return {Message::Kind::deaths, {7}, {3}, ProcessSet{{1}, {4}, {5}, {4'000'000'000}}}; }

TEST(DetectorWire, brings_every_message_back) {
  for (const Message& message :
       {Message{Message::Kind::heartbeat, {1}, {}, {}}, Message{Message::Kind::new_observer, {0xffffffff}, {}, {}},
        Message{Message::Kind::fence, {0}, {}, {}}, deaths()}) {
    EXPECT_EQ(read(written(message)), message) << to_string(message);
    EXPECT_EQ(written(message).size(), wire_size(message));
  }
}

TEST(DetectorWire, spends_eight_bytes_on_a_heartbeat_and_eight_on_a_run_of_dead) {
  EXPECT_EQ(wire_size({}), 8U);
  EXPECT_EQ(wire_size(deaths()), 12U + 3 * 8U);
}

TEST(DetectorWire, refuses_bytes_that_are_no_message) {
  const std::vector<std::byte> bytes = written(deaths());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(read(std::span(bytes).first(length)), EnvironmentError) << length << " bytes";
  }
  const auto with = [&](std::size_t at, std::uint8_t value) {
    std::vector<std::byte> changed = bytes;
    changed.at(at) = std::byte{value};
    return changed;
  };
  EXPECT_THROW(read(with(0, 0)), EnvironmentError) << "not a detector's";
  EXPECT_THROW(read(with(1, 7)), EnvironmentError) << "of no kind";
  EXPECT_THROW(read(with(2, 2)), EnvironmentError) << "longer than it says";
  EXPECT_THROW(read(with(2, 0)), EnvironmentError) << "tells of no deaths";
  EXPECT_THROW(read(with(1, 1)), EnvironmentError) << "a new observer with deaths";
  EXPECT_THROW(read(with(12, 9)), EnvironmentError) << "a run that ends before it begins";
  EXPECT_THROW(read(with(20, 2)), EnvironmentError) << "two runs that are one";
  std::vector<std::byte> longer = written({});
  longer.push_back(std::byte{0});
  EXPECT_THROW(read(longer), EnvironmentError);
}

TEST(DetectorWire, reads_any_bytes_or_refuses_them) {
  std::mt19937 random(1);
  int read_back = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::byte> bytes = written(deaths());
    bytes.resize(random() % (bytes.size() + 1));
    for (int flips = 0; flips < 3 && !bytes.empty(); ++flips) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    try {
      EXPECT_EQ(written(read(bytes)), bytes) << "what is read is what was written";
      ++read_back;
    } catch (const EnvironmentError&) {
    }
  }
  EXPECT_GT(read_back, 0);
}

}  // namespace
}  // namespace mend::detector
