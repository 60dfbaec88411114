// Messages to and from a process that dies: they end, and their buffers may be freed.

#include "transport/requests.hpp"

#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using mend::Communicator;
using mend::Requests;
using support::throwing_world;
using support::world_rank;

struct Message {
  std::string name;
  std::size_t size;
  bool sends;
  bool receives;
};

/// Rank 1 dies with messages under way; ranks 0 and 2 have messages with it.
class RequestsToTheDead : public testing::TestWithParam<Message> {
 protected:
  void begin(Requests& requests) {
    const auto& message = GetParam();
    if (message.receives) requests.receive(receiving_, 1, world_rank());
    if (message.sends) requests.send(sending_, 1, 10 + world_rank());
  }

  /// Begins an exchange that rank 1 does not live to complete.
  void die_with_messages_under_way() {
    Requests requests(comm_.get());
    const auto& message = GetParam();
    if (message.receives) requests.send(sending_, 0, 0);
    if (message.sends) requests.receive(receiving_, 0, 10);
    support::die();
  }

  Communicator comm_ = throwing_world();
  std::vector<std::byte> sending_ = std::vector<std::byte>(GetParam().size, std::byte{1});
  std::vector<std::byte> receiving_ = std::vector<std::byte>(GetParam().size, std::byte{2});
};

TEST_P(RequestsToTheDead, end_by_waiting) {
  ASSERT_EQ(support::world_size(), 3);
  if (world_rank() == 1) die_with_messages_under_way();
  const auto exchange = [&] {
    Requests requests(comm_.get());
    begin(requests);
    requests.wait_all();
  };
  // Rank 0's messages may have been delivered before the death. Rank 2's cannot, but a small one need not wait for its
  // receiver.
  const bool certain = world_rank() == 2 && (GetParam().receives || GetParam().size > 65536);
  if (certain) {
    EXPECT_THROW(exchange(), mend::ProcessFailure);
  } else {
    try {
      exchange();
    } catch (const mend::ProcessFailure&) {
    }
  }
  std::vector<std::byte>().swap(receiving_);
  std::vector<std::byte>().swap(sending_);
}

TEST_P(RequestsToTheDead, end_by_leaving) {
  ASSERT_EQ(support::world_size(), 3);
  struct Interrupted {};
  if (world_rank() == 1) die_with_messages_under_way();
  EXPECT_THROW(
      {
        Requests requests(comm_.get());
        begin(requests);
        throw Interrupted{};
      },
      Interrupted);
  std::fill(receiving_.begin(), receiving_.end(), std::byte{0x5a});
  // The living ranks meet once more before they check: anything still under way would have arrived.
  int flag = 1;
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
  EXPECT_TRUE(std::all_of(receiving_.begin(), receiving_.end(), [](std::byte b) { return b == std::byte{0x5a}; }));
}

std::vector<Message> messages() {
  std::vector<Message> all;
  const std::pair<const char*, std::size_t> sizes[] = {{"1KiB", 1U << 10U}, {"1MiB", 1U << 20U}, {"8MiB", 8U << 20U}};
  for (const auto& [name, size] : sizes) {
    all.push_back({std::string("send_") + name, size, true, false});
    all.push_back({std::string("receive_") + name, size, false, true});
    all.push_back({std::string("both_") + name, size, true, true});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Peers, RequestsToTheDead, testing::ValuesIn(messages()),
                         [](const auto& message) { return message.param.name; });

}  // namespace
