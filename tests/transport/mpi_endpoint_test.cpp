#include "transport/mpi_endpoint.hpp"

#include "tests/transport/endpoints.hpp"

#include <gtest/gtest.h>

#include <map>

namespace {

using namespace endpoints;
using mend::ProcessId;
using mend::transport::Arrival;
using mend::transport::Event;
using mend::transport::max_message;
using mend::transport::MpiEndpoint;
using support::eventually;
using support::world_rank;
using support::world_size;

std::size_t size_of_message(std::uint32_t number) {
  // Short and long messages mixed, so that one could overtake the other.
  return number % 7 == 0 ? max_message : number % 3 == 0 ? 4 : 100 + number;
}

TEST(Endpoint, knows_who_it_is) {
  const MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  EXPECT_EQ(endpoint.self(), process_of(world_rank()));
}

TEST(Endpoint, delivers_every_message_once_whole_and_in_order) {
  constexpr std::uint32_t count = 200;
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  for (std::uint32_t number = 0; number < count; ++number) {
    for (ProcessId to : everyone()) endpoint.send(to, numbered(number, size_of_message(number)));
  }
  std::map<ProcessId, std::uint32_t> next;
  std::size_t received = 0;
  const bool all_came = eventually([&] {
    if (const auto event = endpoint.poll()) {
      const auto* arrival = std::get_if<Arrival>(&*event);
      EXPECT_NE(arrival, nullptr) << "nobody dies here";
      if (arrival == nullptr) return true;
      const auto number = number_of(arrival->bytes);
      EXPECT_EQ(number, next[arrival->from]++) << "from " << arrival->from.value;
      const auto expected = numbered(number, size_of_message(number));
      EXPECT_TRUE(std::equal(arrival->bytes.begin(), arrival->bytes.end(), expected.begin(), expected.end()));
      ++received;
    }
    return received == count * static_cast<std::size_t>(world_size());
  });
  EXPECT_TRUE(all_came) << received << " came";
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(endpoint.poll()) << "and nothing else";
}

TEST(Endpoint, delivers_empty_messages) {
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  endpoint.send(process_of((world_rank() + 1) % world_size()), {});
  std::optional<Event> event;
  ASSERT_TRUE(eventually([&] { return (event = endpoint.poll()).has_value(); }));
  EXPECT_TRUE(std::get<Arrival>(*event).bytes.empty());
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Endpoint, has_copied_the_bytes_when_send_returns) {
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  std::vector<std::byte> bytes = numbered(7, max_message);
  endpoint.send(process_of((world_rank() + 1) % world_size()), bytes);
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  std::optional<Event> event;
  ASSERT_TRUE(eventually([&] { return (event = endpoint.poll()).has_value(); }));
  EXPECT_EQ(number_of(std::get<Arrival>(*event).bytes), 7U);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Endpoint, does_not_block_however_much_is_sent_to_somebody_who_does_not_listen) {
  {
    MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
    const auto message = numbered(1, max_message);
    for (int i = 0; i < 50; ++i) endpoint.send(process_of((world_rank() + 1) % world_size()), message);
  }  // the destructor does not wait for them
  MPI_Barrier(MPI_COMM_WORLD);
  SUCCEED();
}

TEST(Endpoint, hears_nothing_of_other_communicators) {
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  MpiEndpoint other(MPI_COMM_WORLD, everyone());
  const int next = (world_rank() + 1) % world_size();
  other.send(process_of(next), numbered(1, 10));
  std::optional<Event> event;
  ASSERT_TRUE(eventually([&] { return (event = other.poll()).has_value(); }));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(endpoint.poll());
}

TEST(Endpoint, refuses_what_it_cannot_carry) {
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  EXPECT_THROW(endpoint.send(ProcessId{5}, {}), mend::UsageError) << "no such process";
  const std::vector<std::byte> long_one(max_message + 1);
  EXPECT_THROW(endpoint.send(process_of(0), long_one), mend::UsageError);
}

TEST(Endpoint, refuses_members_that_make_no_sense) {
  auto too_many = everyone();
  too_many.push_back(ProcessId{1000});
  EXPECT_THROW(MpiEndpoint(MPI_COMM_WORLD, too_many), mend::UsageError);
  auto backwards = everyone();
  std::reverse(backwards.begin(), backwards.end());
  if (world_size() == 1) return;  // the reverse order is the same
  EXPECT_THROW(MpiEndpoint(MPI_COMM_WORLD, backwards), mend::UsageError);
}

}  // namespace
