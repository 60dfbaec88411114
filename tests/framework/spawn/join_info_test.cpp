#include "framework/spawn/join_info.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "tests/support/fuzz.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace mend {
namespace {

constexpr ProcessId newcomer{6};

/// Three ranks, one vacant, and a spare; as sent to process 6.
EpochState some_epoch_state() {
  EpochState epoch_state;
  epoch_state.members = {{0}, {2}, {4}};
  epoch_state.roster.seats = {{{{0}, {0}}, 0, Rank{0}}, {{{2}, {1}}, 1, Rank{1}}, {{{3}, {1}}, 2, Rank{2}}};
  epoch_state.roster.spares = {{{4}, {0}}};
  epoch_state.epoch = {5};
  epoch_state.processes = newcomer.value + 1;
  return epoch_state;
}

JobRecord some_record() {
  JobRecord record;
  record.first_size = 4;
  record.committed = {17};
  record.places = {{1}, {0}};
  RecoveryReport recovery;
  recovery.epoch = {4};
  recovery.dead = {ProcessId{1}};
  recovery.replacements = {Replacement{Rank{1}, ProcessId{1}, ProcessId{2}}};
  record.recoveries = {recovery};
  record.before.seats = {{{{0}, {0}}, 0, Rank{0}}, {{{2}, {1}}, 1, Rank{1}}, {{{3}, {1}}, 1, Rank{2}}};
  record.dead.insert(ProcessId{3});
  record.unable.insert(ProcessId{2});
  record.started.insert(newcomer);
  record.without_commit = 2;
  record.row = {3, {Rank{1}, Rank{2}}};
  record.rounds = 4;
  record.writes_done = 5;
  return record;
}

std::string told(const EpochState& epoch_state) { return write_join_info({epoch_state, "port", {9}, some_record()}); }
std::string told_of(const JobRecord& record) { return write_join_info({some_epoch_state(), "port", {9}, record}); }
JoinInfo read(const std::string& text) { return read_join_info(std::as_bytes(std::span(text)), newcomer); }

TEST(JoinInfo, tells_a_newcomer_how_the_job_stands) {
  const EpochState epoch_state = some_epoch_state();
  const JoinInfo info = read(told(epoch_state));
  EXPECT_EQ(info.epoch_state.members, epoch_state.members);
  EXPECT_EQ(info.epoch_state.roster, epoch_state.roster);
  EXPECT_EQ(info.epoch_state.epoch, epoch_state.epoch);
  EXPECT_EQ(info.epoch_state.processes, epoch_state.processes);
  EXPECT_EQ(info.port, "port");
  EXPECT_EQ(info.last_group.value, 9U);
}

TEST(JoinInfo, tells_a_newcomer_what_has_happened) {
  const JobRecord record = some_record();
  const JobRecord said = read(told_of(record)).record;
  EXPECT_EQ(said.first_size, record.first_size);
  EXPECT_EQ(said.committed, record.committed);
  EXPECT_EQ(said.places, record.places);
  ASSERT_EQ(said.recoveries.size(), 1U);
  EXPECT_EQ(said.recoveries[0].epoch, record.recoveries[0].epoch);
  EXPECT_EQ(said.recoveries[0].replacements, record.recoveries[0].replacements);
  EXPECT_EQ(said.before, record.before);
  EXPECT_EQ(said.dead, record.dead);
  EXPECT_EQ(said.unable, record.unable);
  EXPECT_EQ(said.started, record.started);
  EXPECT_EQ(said.without_commit, record.without_commit);
  EXPECT_EQ(said.row, record.row);
  EXPECT_EQ(said.rounds, record.rounds);
  EXPECT_EQ(said.writes_done, record.writes_done);
}

TEST(JoinInfo, is_refused_when_what_has_happened_cannot_have) {
  JobRecord record = some_record();
  record.dead.insert(newcomer);
  EXPECT_THROW(read(told_of(record)), EnvironmentError) << "the newcomer is dead";
  record = some_record();
  record.unable.insert(newcomer);
  EXPECT_THROW(read(told_of(record)), EnvironmentError) << "the newcomer was to start itself";
  record = some_record();
  record.before.spares.push_back({newcomer, {0}});
  EXPECT_THROW(read(told_of(record)), EnvironmentError) << "the newcomer was there before";
  record = some_record();
  record.first_size = 0;
  EXPECT_THROW(read(told_of(record)), EnvironmentError) << "a job of no ranks";
  record = some_record();
  record.without_commit = -1;
  EXPECT_THROW(read(told_of(record)), EnvironmentError);
  record = some_record();
  record.rounds = -1;
  EXPECT_THROW(read(told_of(record)), EnvironmentError);
}

TEST(JoinInfo, is_refused_when_it_names_processes_that_the_newcomer_cannot_meet) {
  EpochState epoch_state = some_epoch_state();
  epoch_state.members.push_back(newcomer);
  EXPECT_THROW(read(told(epoch_state)), EnvironmentError) << "itself";
  epoch_state = some_epoch_state();
  epoch_state.members = {{2}, {0}};
  EXPECT_THROW(read(told(epoch_state)), EnvironmentError) << "not in order";
  epoch_state = some_epoch_state();
  epoch_state.roster.spares.push_back({{0xffffffff}, {0}});
  EXPECT_THROW(read(told(epoch_state)), EnvironmentError) << "a spare that never was";
  epoch_state = some_epoch_state();
  epoch_state.processes = 0xffffffff;
  EXPECT_THROW(read(told(epoch_state)), EnvironmentError) << "a job of all the numbers there are";
  epoch_state = some_epoch_state();
  epoch_state.roster.seats[0].predecessors = -1;
  EXPECT_THROW(read(told(epoch_state)), EnvironmentError);
}

TEST(JoinInfo, is_read_whatever_it_says_or_refused) {
  support::expect_read_or_refused<EnvironmentError>(
      [valid = told(some_epoch_state())](support::Fuzzer& fuzzer) { return fuzzer.change(valid); },
      [](const std::string& text) {
        const JoinInfo info = read(text);
        EXPECT_EQ(info.epoch_state.processes, newcomer.value + 1);
        EXPECT_LT(info.epoch_state.members.back(), newcomer);
      });
}

TEST(JoinInfo, that_is_nested_without_end_is_refused) {
  const std::string deep(100'000, '[');
  EXPECT_THROW(read(R"({"roster": )" + deep + std::string(deep.size(), ']') + "}"), EnvironmentError);
  EXPECT_THROW(read("[1, 2]"), EnvironmentError);
}

TEST(AnAdmission, tells_a_newcomer_which_step_the_members_have_come_to) {
  const auto told_step = [](std::uint32_t step) {
    std::vector<std::byte> bytes;
    append(Admission{step}, bytes);
    return bytes;
  };
  EXPECT_EQ(read_admission(told_step(14)).step, 14U);
  EXPECT_THROW(read_admission(told_step(15)), EnvironmentError) << "inside an agreement";
  EXPECT_THROW(read_admission(told_step(0xfffffffe)), EnvironmentError) << "more than a recovery has";
  EXPECT_THROW(read_admission({}), EnvironmentError);
}

DetectorPeer peer(std::uint32_t process) {
  DetectorPeer one{};
  one.process = {process};
  one.peer.identity = {100 + static_cast<int>(process), 7, 1};
  std::strcpy(one.name.job.data(), "job");
  return one;
}
constexpr DetectorState state{{3}, std::chrono::seconds(1)};

std::vector<std::byte> told(const std::vector<std::uint32_t>& processes, ProcessId host) {
  std::vector<DetectorPeer> all;
  for (const std::uint32_t process : processes) all.push_back(peer(process));
  return write_peers(all, state, host);
}

TEST(DetectorPeers, are_those_whom_a_newcomer_is_to_know) {
  const DetectorPeers read = read_peers(told({0, 2, 4}, {2}), newcomer);
  EXPECT_EQ(read.all.size(), 3U);
  EXPECT_EQ(read.host, ProcessId{2});
  EXPECT_EQ(read.state.ring, state.ring);
  EXPECT_THROW(read_peers(told({}, {2}), newcomer), EnvironmentError);
  EXPECT_THROW(read_peers(told({0, 4}, {2}), newcomer), EnvironmentError) << "the host is nobody";
  EXPECT_THROW(read_peers(told({0, 2, 6}, {2}), newcomer), EnvironmentError) << "the newcomer itself";
  EXPECT_THROW(read_peers(told({2, 0xffffffff}, {2}), newcomer), EnvironmentError);
  EXPECT_THROW(read_peers(told({2, 2}, {2}), newcomer), EnvironmentError) << "twice the same";
  auto unnamed = peer(2);
  unnamed.name.job.fill('x');
  EXPECT_THROW(read_peers(write_peers({unnamed}, state, {2}), newcomer), EnvironmentError);
}

TEST(DetectorPeers, are_read_whatever_they_are_or_refused) {
  support::expect_read_or_refused<EnvironmentError>(
      [valid = told({0, 2, 4}, {2})](support::Fuzzer& fuzzer) { return fuzzer.change(valid); },
      [](const auto& text) { EXPECT_LT(read_peers(text, newcomer).all.back().process, newcomer); });
}

TEST(DetectorPeers, introduce_themselves_as_those_who_have_called) {
  const DetectorPeer who = peer(6);
  EXPECT_TRUE(introduces(who, {6}, who.peer.identity));
  EXPECT_FALSE(introduces(who, {5}, who.peer.identity)) << "a number that another was given";
  EXPECT_FALSE(introduces(who, {6}, {99, 7, 1})) << "another process";
  DetectorPeer unnamed = who;
  unnamed.name.job.fill('x');
  EXPECT_FALSE(introduces(unnamed, {6}, who.peer.identity));
}

}  // namespace
}  // namespace mend
