#include "detector/wire.hpp"

#include "base/error.hpp"
#include "tests/detector/all_messages.hpp"
#include "tests/detector/written.hpp"
#include "tests/support/fuzz.hpp"
#include "transport/control/control_network.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace mend::detector {
namespace {

Message deaths() { return {Message::Kind::deaths, {7}, {3}, ProcessSet{{1}, {4}, {5}, {4'000'000'000}}}; }

TEST(DetectorWire, brings_every_message_back) {
  std::vector<Message> messages = all_messages;
  messages.push_back({Message::Kind::new_observer, {0xffffffff}, {}, {}});
  messages.push_back({Message::Kind::fence, {0}, {}, {}});
  messages.push_back(deaths());
  for (const Message& message : messages) {
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
  EXPECT_THROW(read(with(2, 0)), EnvironmentError) << "longer than it says, too";
  std::vector<std::byte> of_nobody = with(2, 0);
  of_nobody.resize(wire_size({}));
  EXPECT_THROW(read(of_nobody), EnvironmentError) << "tells of no deaths";
  EXPECT_THROW(read(with(1, 1)), EnvironmentError) << "a new observer with deaths";
  EXPECT_THROW(read(with(12, 9)), EnvironmentError) << "a run that ends before it begins";
  EXPECT_THROW(read(with(20, 2)), EnvironmentError) << "two runs that are one";
  std::vector<std::byte> longer = written(Message{});
  longer.push_back(std::byte{0});
  EXPECT_THROW(read(longer), EnvironmentError);
}

TEST(DetectorWire, splits_a_list_that_is_too_long_for_one_message) {
  constexpr std::uint32_t job = 300'000;
  std::vector<ProcessSet::Run> runs;
  for (std::uint32_t i = 0; i < job; i += 2) runs.push_back({{i}, {i}});
  const Message all{Message::Kind::deaths, {7}, {3}, ProcessSet::from_runs(runs)};
  EXPECT_THROW(written(all), UsageError);
  ProcessSet brought;
  for (const Message& part : split(all)) {
    EXPECT_LE(wire_size(part), transport::ControlNetwork::longest_message);
    const Message read_back = read(written(part));
    EXPECT_EQ(std::tie(read_back.kind, read_back.epoch, read_back.source), std::tie(all.kind, all.epoch, all.source));
    brought.insert(read_back.dead);
  }
  EXPECT_EQ(brought, all.dead);
  EXPECT_EQ(split(deaths()), std::vector{deaths()});
}

TEST(DetectorWire, carries_a_list_of_a_large_job_in_one_message) {
  std::vector<ProcessSet::Run> runs;
  for (std::uint32_t i = 0; i < 40'000; i += 2) runs.push_back({{i}, {i}});
  const Message half_of_the_job{Message::Kind::deaths, {7}, {1}, ProcessSet::from_runs(runs)};
  EXPECT_EQ(split(half_of_the_job).size(), 1U);
  EXPECT_EQ(read(written(half_of_the_job)), half_of_the_job);
  EXPECT_LE(wire_size(half_of_the_job), transport::ControlNetwork::longest_message);
}

TEST(DetectorWire, reads_any_bytes_or_refuses_them) {
  std::vector<Message> messages = all_messages;
  messages.push_back(deaths());
  support::expect_read_or_refused<EnvironmentError>(
      [&](support::Fuzzer& fuzzer) { return fuzzer.change(written(messages[fuzzer.below(messages.size())])); },
      [](const std::vector<std::byte>& bytes) {
        EXPECT_EQ(written(read(bytes)), bytes) << "what is read is what was written";
      });
}

}  // namespace
}  // namespace mend::detector
