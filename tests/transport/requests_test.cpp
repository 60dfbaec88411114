#include "transport/requests.hpp"

#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using mend::Communicator;
using mend::Requests;
using support::throwing_world;
using support::world_rank;
using support::world_size;

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t size, int seed) {
  Bytes bytes(size);
  std::uint32_t value = static_cast<std::uint32_t>(seed) * 2654435761U + 1;
  for (std::byte& byte : bytes) {
    value = value * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(value >> 24U);
  }
  return bytes;
}

class OfAnySize : public testing::TestWithParam<std::size_t> {};

TEST_P(OfAnySize, messages_arrive_whole) {
  const Communicator comm = throwing_world();
  const int next = (world_rank() + 1) % world_size();
  const int previous = (world_rank() + world_size() - 1) % world_size();
  const Bytes mine = pattern(GetParam(), world_rank());
  Bytes received(GetParam());
  Requests requests(comm.get());
  requests.receive(received, previous, 1);
  requests.send(mine, next, 1);
  requests.wait_all();
  EXPECT_EQ(received, pattern(GetParam(), previous));
}

INSTANTIATE_TEST_SUITE_P(Sizes, OfAnySize, testing::Values(0, 1, 1000, 4096, 100'000, 1U << 20U, 8U << 20U));

TEST(Requests, without_messages_have_nothing_to_wait_for) {
  const Communicator comm = throwing_world();
  {
    Requests requests(comm.get());
    requests.wait_all();
  }
  { const Requests unused(comm.get()); }
  EXPECT_FALSE(mend::is_revoked(comm.get()));
}

TEST(Requests, to_and_from_nobody_are_done_at_once) {
  const Communicator comm = throwing_world();
  Bytes bytes(10);
  Requests requests(comm.get());
  requests.send(bytes, MPI_PROC_NULL, 1);
  requests.receive(bytes, MPI_PROC_NULL, 1);
  EXPECT_NO_THROW(requests.wait_all());
}

TEST(Requests, take_over_those_that_the_caller_started) {
  const Communicator comm = throwing_world();
  int sent = world_rank();
  int received = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&received, 1, MPI_INT, world_rank(), 2, comm.get(), &request);
  Requests requests(comm.get());
  requests.add(request);
  requests.send(std::as_bytes(std::span(&sent, 1)), world_rank(), 2);
  requests.wait_all();
  EXPECT_EQ(received, sent);
}

TEST(Requests, that_are_done_leave_the_communicator_alone) {
  const Communicator comm = throwing_world();
  Bytes bytes(10);
  {
    Requests requests(comm.get());
    requests.receive(bytes, world_rank(), 1);
    requests.send(pattern(10, 1), world_rank(), 1);
    requests.wait_all();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(mend::is_revoked(comm.get()));
}

/// All ranks leave with messages under way, and no partner completes them.
class Left : public testing::TestWithParam<std::size_t> {};

TEST_P(Left, by_an_exception_requests_complete_before_their_buffers_go) {
  struct Interrupted {};
  const Communicator comm = throwing_world();
  const int next = (world_rank() + 1) % world_size();
  const int previous = (world_rank() + world_size() - 1) % world_size();
  Bytes sending = pattern(GetParam(), world_rank());
  Bytes receiving(GetParam());
  EXPECT_THROW(
      {
        Requests requests(comm.get());
        requests.receive(receiving, previous, 1);  // tag 1 is never sent
        requests.send(sending, next, 2);           // tag 2 is never received
        throw Interrupted{};
      },
      Interrupted);
  EXPECT_TRUE(mend::is_revoked(comm.get()));
  // MPI must not write here any more.
  std::fill(receiving.begin(), receiving.end(), std::byte{0x5a});
  std::fill(sending.begin(), sending.end(), std::byte{0x5a});
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(std::all_of(receiving.begin(), receiving.end(), [](std::byte b) { return b == std::byte{0x5a}; }));
}

TEST_P(Left, by_one_rank_the_others_are_told) {
  if (world_size() == 1) GTEST_SKIP() << "there are no others";
  struct Interrupted {};
  const Communicator comm = throwing_world();
  const Bytes sending = pattern(GetParam(), world_rank());
  Bytes receiving(GetParam());
  const auto exchange = [&] {
    Requests requests(comm.get());
    const int partner = world_rank() == 0 ? 1 : 0;
    requests.receive(receiving, partner, 1);
    requests.send(sending, partner, 2);
    if (world_rank() == 0) throw Interrupted{};
    requests.wait_all();
  };
  if (world_rank() == 0) {
    EXPECT_THROW(exchange(), Interrupted);
  } else {
    EXPECT_THROW(exchange(), mend::ProcessFailure);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Left, testing::Values(1000, 1U << 20U, 8U << 20U));

}  // namespace
