#include "framework/spawn/join_info.hpp"

#include "base/error.hpp"
#include "tests/support/fuzz.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace mend {
namespace {

constexpr ProcessId newcomer{6};

/// Three ranks, one vacant, and a spare, told to process 6.
World some_world() {
  World world;
  world.members = {{0}, {2}, {4}};
  world.roster.seats = {{{{0}, {0}}, 0, Rank{0}}, {{{2}, {1}}, 1, Rank{1}}, {{{3}, {1}}, 2, Rank{2}}};
  world.roster.spares = {{{4}, {0}}};
  world.epoch = {5};
  world.processes = newcomer.value + 1;
  return world;
}

std::string told(const World& world) { return write_join_info({world, "port", {9}, R"({"first_size": 3})"}); }
JoinInfo read(const std::string& text) { return read_join_info(std::as_bytes(std::span(text)), newcomer); }

TEST(JoinInfo, tells_a_newcomer_how_the_job_stands) {
  const World world = some_world();
  const JoinInfo info = read(told(world));
  EXPECT_EQ(info.world.members, world.members);
  EXPECT_EQ(info.world.roster, world.roster);
  EXPECT_EQ(info.world.epoch, world.epoch);
  EXPECT_EQ(info.world.processes, world.processes);
  EXPECT_EQ(info.port, "port");
  EXPECT_EQ(info.last_group.value, 9U);
  EXPECT_EQ(info.memories, R"({"first_size": 3})");
}

TEST(JoinInfo, is_refused_when_it_names_processes_that_the_newcomer_cannot_meet) {
  World world = some_world();
  world.members.push_back(newcomer);
  EXPECT_THROW(read(told(world)), EnvironmentError) << "itself";
  world = some_world();
  world.members = {{2}, {0}};
  EXPECT_THROW(read(told(world)), EnvironmentError) << "not in order";
  world = some_world();
  world.roster.spares.push_back({{0xffffffff}, {0}});
  EXPECT_THROW(read(told(world)), EnvironmentError) << "a spare that never was";
  world = some_world();
  world.processes = 0xffffffff;
  EXPECT_THROW(read(told(world)), EnvironmentError) << "a job of all the numbers there are";
  world = some_world();
  world.roster.seats[0].predecessors = -1;
  EXPECT_THROW(read(told(world)), EnvironmentError);
}

TEST(JoinInfo, is_read_whatever_it_says_or_refused) {
  support::Fuzzer fuzzer;
  const std::string valid = told(some_world());
  int read_back = 0;
  for (int i = 0; i < support::fuzz_inputs(); ++i) {
    try {
      const JoinInfo info = read(fuzzer.change(valid));
      EXPECT_EQ(info.world.processes, newcomer.value + 1);
      EXPECT_LT(info.world.members.back(), newcomer);
      ++read_back;
    } catch (const EnvironmentError&) {
    }
  }
  EXPECT_GT(read_back, 0);
}

TEST(JoinInfo, that_is_nested_without_end_is_refused) {
  const std::string deep(100'000, '[');
  EXPECT_THROW(read(R"({"roster": )" + deep + std::string(deep.size(), ']') + "}"), EnvironmentError);
  EXPECT_THROW(read_roster("[1, 2]"), EnvironmentError);
}

Acquaintance acquaintance(std::uint32_t process) {
  Acquaintance one{};
  one.process = {process};
  one.peer.identity = {100 + static_cast<int>(process), 7, 1};
  std::strcpy(one.name.job.data(), "job");
  return one;
}
constexpr Standing standing{{3}, std::chrono::seconds(1)};

std::vector<std::byte> told(const std::vector<std::uint32_t>& processes, ProcessId host) {
  std::vector<Acquaintance> all;
  for (const std::uint32_t process : processes) all.push_back(acquaintance(process));
  return write_acquaintances(all, standing, host);
}

TEST(Acquaintances, are_those_whom_a_newcomer_is_to_know) {
  const Acquaintances read = read_acquaintances(told({0, 2, 4}, {2}), newcomer);
  EXPECT_EQ(read.all.size(), 3U);
  EXPECT_EQ(read.host, ProcessId{2});
  EXPECT_EQ(read.standing.ring, standing.ring);
  EXPECT_THROW(read_acquaintances(told({}, {2}), newcomer), EnvironmentError);
  EXPECT_THROW(read_acquaintances(told({0, 4}, {2}), newcomer), EnvironmentError) << "the host is nobody";
  EXPECT_THROW(read_acquaintances(told({0, 2, 6}, {2}), newcomer), EnvironmentError) << "the newcomer itself";
  EXPECT_THROW(read_acquaintances(told({2, 0xffffffff}, {2}), newcomer), EnvironmentError);
  EXPECT_THROW(read_acquaintances(told({2, 2}, {2}), newcomer), EnvironmentError) << "twice the same";
  auto unnamed = acquaintance(2);
  unnamed.name.job.fill('x');
  EXPECT_THROW(read_acquaintances(write_acquaintances({unnamed}, standing, {2}), newcomer), EnvironmentError);
}

TEST(Acquaintances, are_read_whatever_they_are_or_refused) {
  support::Fuzzer fuzzer;
  const auto valid = told({0, 2, 4}, {2});
  int read_back = 0;
  for (int i = 0; i < support::fuzz_inputs(); ++i) {
    try {
      const Acquaintances read = read_acquaintances(fuzzer.change(valid), newcomer);
      EXPECT_LT(read.all.back().process, newcomer);
      ++read_back;
    } catch (const EnvironmentError&) {
    }
  }
  EXPECT_GT(read_back, 0);
}

TEST(Acquaintances, introduce_themselves_as_those_who_have_called) {
  const Acquaintance who = acquaintance(6);
  EXPECT_TRUE(introduces(who, {6}, who.peer.identity));
  EXPECT_FALSE(introduces(who, {5}, who.peer.identity)) << "a number that another was given";
  EXPECT_FALSE(introduces(who, {6}, {99, 7, 1})) << "another process";
  Acquaintance unnamed = who;
  unnamed.name.job.fill('x');
  EXPECT_FALSE(introduces(unnamed, {6}, who.peer.identity));
}

}  // namespace
}  // namespace mend
