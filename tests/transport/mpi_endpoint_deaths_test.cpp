// The endpoint's contract about dead processes, with real deaths.

#include "transport/mpi_endpoint.hpp"

#include "tests/transport/endpoints.hpp"

#include <gtest/gtest.h>

#include <map>

namespace {

using namespace endpoints;
using mend::ProcessId;
using mend::transport::Arrival;
using mend::transport::Death;
using mend::transport::max_message;
using mend::transport::MpiEndpoint;
using support::eventually;
using support::world_rank;
using support::world_size;

/// The events reported to one endpoint.
struct Heard {
  std::map<ProcessId, int> deaths;
  std::map<ProcessId, std::uint32_t> arrivals;

  void poll(MpiEndpoint& endpoint) {
    const auto event = endpoint.poll();
    if (!event) return;
    if (const auto* death = std::get_if<Death>(&*event)) {
      ++deaths[death->process];
    } else {
      const auto& arrival = std::get<Arrival>(*event);
      EXPECT_FALSE(deaths.contains(arrival.from)) << "the dead are silent";
      EXPECT_EQ(number_of(arrival.bytes), arrivals[arrival.from]++) << "in order, from " << arrival.from.value;
    }
  }
};

/// Polls for some more time, so that events that should not come have time to arrive.
void listen_on(MpiEndpoint& endpoint, Heard& heard) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < until) heard.poll(endpoint);
}

TEST(Deaths, are_each_told_once) {
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  if (world_rank() == 2 || world_rank() == 3) support::die();
  Heard heard;
  EXPECT_TRUE(eventually([&] {
    heard.poll(endpoint);
    return heard.deaths.size() == 2;
  }));
  listen_on(endpoint, heard);
  EXPECT_EQ(heard.deaths, (std::map<ProcessId, int>{{process_of(2), 1}, {process_of(3), 1}}));
  EXPECT_TRUE(heard.arrivals.empty());
}

TEST(Deaths, do_not_disturb_the_living) {
  constexpr std::uint32_t count = 300;
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  Heard heard;
  for (std::uint32_t number = 0; number < count; ++number) {
    if (world_rank() == 1 && number == 100) support::die();
    for (ProcessId to : everyone()) {
      if (to != endpoint.self()) endpoint.send(to, numbered(number, number % 10 == 0 ? max_message : 50));
    }
    heard.poll(endpoint);
  }
  const auto living_done = [&] {
    heard.poll(endpoint);
    for (int rank = 0; rank < world_size(); ++rank) {
      if (rank != 1 && rank != world_rank() && heard.arrivals[process_of(rank)] < count) return false;
    }
    return heard.deaths.contains(process_of(1));
  };
  EXPECT_TRUE(eventually(living_done)) << testing::PrintToString(heard.arrivals)
                                       << testing::PrintToString(heard.deaths);
  EXPECT_LE(heard.arrivals[process_of(1)], 100U);
  EXPECT_EQ(heard.deaths, (std::map<ProcessId, int>{{process_of(1), 1}}));
  // No process leaves while another may still need something: the living ones meet first.
  int flag = 1;
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
}

TEST(Deaths, take_what_is_sent_to_them_with_them) {
  MpiEndpoint endpoint(MPI_COMM_WORLD, everyone());
  if (world_rank() == 3) support::die();
  const auto message = numbered(0, max_message);
  // Before the death is known, while it becomes known, and afterwards.
  Heard heard;
  EXPECT_TRUE(eventually([&] {
    endpoint.send(process_of(3), message);
    heard.poll(endpoint);
    return heard.deaths.contains(process_of(3));
  }));
  for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(endpoint.send(process_of(3), message));
  listen_on(endpoint, heard);
  EXPECT_EQ(heard.deaths.at(process_of(3)), 1);
}

}  // namespace
