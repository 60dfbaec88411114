// Agreements on real processes without failures; tests/faults has those with failures.

#include "agreement/service.hpp"

#include "base/error.hpp"
#include "tests/support/flush.hpp"
#include "tests/support/world.hpp"
#include "transport/mpi_endpoint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace {

using mend::launched_processes;
using mend::ProcessId;
using mend::agreement::AgreementId;
using mend::agreement::GroupId;
using mend::agreement::Layout;
using mend::agreement::Protocol;
using mend::agreement::Service;
using support::flush;
using support::world_rank;
using support::world_size;

Service service_of_all() {
  return Service(std::make_unique<mend::transport::MpiEndpoint>(MPI_COMM_WORLD, launched_processes()), {});
}

/// The contribution of a rank, which leaves out its own bit, in `round`; and the result for all ranks.
std::uint32_t said_by(int rank, std::uint32_t round) { return (round << 8) | (0xffU & ~(1U << rank)); }
std::uint32_t said_by_all(std::uint32_t round) { return (round << 8) | (0xffU & ~((1U << world_size()) - 1U)); }

class EachProtocol : public testing::TestWithParam<Protocol> {};

TEST_P(EachProtocol, comes_to_what_all_have_said) {
  Service service = service_of_all();
  const auto group = service.join({1}, launched_processes(), GetParam());
  for (std::uint32_t round = 0; round < 200; ++round) {
    const auto outcome = group->agree(said_by(world_rank(), round));
    EXPECT_EQ(outcome.value, said_by_all(round));
    EXPECT_FALSE(outcome.somebody_died);
  }
  flush(service);
}

TEST_P(EachProtocol, serves_several_groups_of_different_members_in_any_order) {
  Service service = service_of_all();
  auto backwards = launched_processes();
  std::reverse(backwards.begin(), backwards.end());
  const auto first = service.join({1}, launched_processes(), GetParam());
  const auto second = service.join({2}, backwards, GetParam());
  for (std::uint32_t round = 0; round < 50; ++round) {
    EXPECT_EQ(second->agree(said_by(world_rank(), round)).value, said_by_all(round));
    EXPECT_EQ(first->agree(said_by(world_rank(), round + 1)).value, said_by_all(round + 1));
  }
  // A group of all but the last process. The last one is not in it, and answers for the other groups meanwhile.
  if (world_size() > 2) {
    auto some = launched_processes();
    some.pop_back();
    if (world_rank() + 1 < world_size()) {
      const auto third = service.join({3}, some, GetParam());
      for (std::uint32_t round = 0; round < 50; ++round) {
        EXPECT_EQ(third->agree(said_by(world_rank(), round)).value,
                  (round << 8) | (0xffU & ~((1U << some.size()) - 1U)));
      }
    } else {
      EXPECT_THROW(service.join({3}, some, GetParam()), mend::UsageError);
    }
  }
  flush(service);
}

std::string name_of_protocol(const testing::TestParamInfo<Protocol>& tested) {
  std::string name(mend::agreement::name_of(tested.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Protocols, EachProtocol,
                         testing::Values(Protocol::era, Protocol::log2phases, Protocol::validate_all,
                                         Protocol::validate_all_loose),
                         name_of_protocol);

TEST(NonBlocking, many_are_under_way_at_once_and_tested_in_any_order) {
  Service service = service_of_all();
  const auto group = service.join({1}, launched_processes(), Protocol::era);
  constexpr std::uint32_t count = 300;
  std::vector<AgreementId> begun;
  for (std::uint32_t round = 0; round < count; ++round) begun.push_back(group->start(said_by(world_rank(), round)));
  // In reverse order.
  for (std::uint32_t round = count; round-- > 0;) EXPECT_EQ(group->wait(begun[round]).value, said_by_all(round));
  EXPECT_EQ(group->test(begun.front()), std::nullopt) << "told once";
  EXPECT_EQ(group->agree(said_by(world_rank(), 7)).value, said_by_all(7)) << "and a blocking one after them";
  flush(service);
}

TEST(NonBlocking, is_told_only_when_all_have_come) {
  Service service = service_of_all();
  const auto group = service.join({1}, launched_processes(), Protocol::era);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0 && world_size() > 1) {
    const auto early = group->start(said_by(0, 1));
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(group->test(early), std::nullopt);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(group->wait(early).value, said_by_all(1));
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(group->wait(group->start(said_by(world_rank(), 1))).value, said_by_all(1));
  }
  flush(service);
}

TEST(Layouts, all_come_to_the_same) {
  Service service = service_of_all();
  GroupId last;
  for (const char* layout : {"binary", "star", "chain", "3-ary", "bin/star:2"}) {
    const auto group = service.join(last = last.next(), launched_processes(), Protocol::era, Layout::parse(layout));
    EXPECT_EQ(group->agree(said_by(world_rank(), 5)).value, said_by_all(5)) << layout;
  }
  flush(service);
}

TEST(Groups, that_have_ended_are_not_joined_again) {
  Service service = service_of_all();
  const auto group = service.join({3}, launched_processes(), Protocol::era);
  EXPECT_THROW(service.join({3}, launched_processes(), Protocol::era), mend::UsageError);
  group->agree(said_by(world_rank(), 0));
  flush(service);
  service.end_groups_before({4});
  EXPECT_THROW(service.join({2}, launched_processes(), Protocol::era), mend::UsageError);
  const auto next = service.join({4}, launched_processes(), Protocol::era);
  EXPECT_EQ(next->agree(said_by(world_rank(), 1)).value, said_by_all(1));
  flush(service);
}

/// Returns the resident memory of this process, in KiB.
long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

TEST(Memory, does_not_grow_with_the_number_of_agreements) {
  Service service = service_of_all();
  const auto group = service.join({1}, launched_processes(), Protocol::era);
  const long count = world_size() <= 2 ? 1'000'000 : 50'000;  // more processes than cores take turns
  for (long i = 0; i < count / 10; ++i) group->agree(1);
  const long before = resident_kib();
  for (long i = 0; i < count; ++i) group->agree(1);
  EXPECT_LE(resident_kib() - before, 256);
  flush(service);
}

}  // namespace
