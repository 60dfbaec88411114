// How one process judges silence: six processes on three machines, seen by the first of the second machine.

#include "detector/detector.hpp"

#include "base/error.hpp"
#include "detector/wire.hpp"
#include "tests/detector/all_messages.hpp"
#include "tests/detector/ring_times.hpp"
#include "tests/support/fuzz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace mend::detector {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Message::Kind;

const std::vector<NodeId> nodes{{0}, {0}, {1}, {1}, {2}, {2}};

class DetectorTest : public testing::Test {
 protected:
  explicit DetectorTest(std::uint32_t self = 2) : detector_({self}, timing) {
    detector_.enter({{1}, 6, {}}, nodes, start, actions_);
  }

  /// The process has run until `now`.
  void receive(std::uint32_t from, Kind kind, Time now, const ProcessSet& about = {}) {
    tick_until(now - 1ns);
    receive_late(from, kind, now, about);
  }
  void receive_late(std::uint32_t from, Kind kind, Time now, const ProcessSet& about = {}) {
    actions_.clear();
    detector_.receive({from}, {kind, {1}, {from}, about}, now, actions_);
  }
  void tick(Time now) {
    actions_.clear();
    detector_.tick(now, actions_);
  }
  /// Ticks as its owner would, without receiving messages.
  void tick_until(Time end) {
    ProcessSet died;
    bool cut_off = false;
    for (auto next = detector_.next_deadline(); next && *next <= end; next = detector_.next_deadline()) {
      tick(*next);
      died.insert(actions_.died);
      cut_off |= actions_.cut_off;
    }
    actions_.died = died;
    actions_.cut_off = cut_off;
  }
  std::vector<std::string> sent() const {
    std::vector<std::string> lines;
    for (const Actions::Send& send : actions_.sends) {
      if (send.message.kind == Kind::heartbeat) continue;
      lines.push_back(to_string(send.message) + " to " + std::to_string(send.to.value));
    }
    return lines;
  }

  Actions actions_;
  Detector detector_;
};

class BesideItsEmitter : public DetectorTest {
 protected:
  BesideItsEmitter() : DetectorTest(3) {}
};

// A new emitter has twice delta: the inquiry about it begins at start + 1.5 s, and it is suspected at start + 2 s.

TEST_F(DetectorTest, does_not_listen_to_who_speaks_of_processes_that_the_job_has_not) {
  for (const Kind kind : {Kind::heartbeat, Kind::deaths, Kind::inquiry, Kind::answer, Kind::withdrawal}) {
    for (const ProcessSet& about : {ProcessSet{{6}}, ProcessSet::first(0xffffffff)}) {
      actions_.clear();
      EXPECT_FALSE(detector_.receive({3}, {kind, {1}, {3}, about}, start, actions_));
      EXPECT_THAT(sent(), IsEmpty());
      EXPECT_TRUE(actions_.died.empty());
    }
  }
  EXPECT_FALSE(detector_.receive({3}, {Kind::deaths, {1}, {6}, {{4}}}, start, actions_)) << "another's deaths";
  EXPECT_TRUE(detector_.receive({3}, {Kind::deaths, {1}, {3}, {{5}}}, start, actions_));
  EXPECT_EQ(actions_.died, ProcessSet{ProcessId{5}});
}

TEST_F(DetectorTest, asks_everybody_about_an_emitter_on_another_machine_that_is_silent) {
  tick_until(start + 1500ms);
  EXPECT_THAT(sent(), ElementsAre("INQUIRY({1}) to 0", "INQUIRY({1}) to 1", "INQUIRY({1}) to 3", "INQUIRY({1}) to 4",
                                  "INQUIRY({1}) to 5"));
}

TEST_F(DetectorTest, holds_it_dead_after_delta_when_more_than_half_have_answered) {
  tick_until(start + 1500ms);
  for (std::uint32_t p : {3U, 4U, 5U}) receive(p, Kind::answer, start + 1501ms, {{1}});
  tick_until(start + 1999ms);
  EXPECT_EQ(actions_.died, ProcessSet{});
  tick_until(start + 2s);
  EXPECT_EQ(actions_.died, ProcessSet{{1}});
  EXPECT_EQ(sent().front(), "NEWOBSERVER to 0");
  EXPECT_EQ(detector_.suspicions(), 1U);
}

TEST_F(DetectorTest, half_is_too_few) {
  tick_until(start + 1500ms);
  receive(3, Kind::answer, start + 1501ms, {{1}});
  receive(4, Kind::answer, start + 1501ms, {{1}});
  receive(4, Kind::answer, start + 1501ms, {{1}});
  receive(5, Kind::answer, start + 1501ms, {{0}});
  tick_until(start + 2999ms);
  EXPECT_EQ(actions_.died, ProcessSet{}) << "one answered twice, and one something else";
  EXPECT_FALSE(actions_.cut_off);
}

TEST_F(DetectorTest, half_is_enough_with_the_lowest_in_it) {
  tick_until(start + 1500ms);
  receive(3, Kind::answer, start + 1501ms, {{1}});
  receive(0, Kind::answer, start + 1501ms, {{1}});
  tick_until(start + 2s);
  EXPECT_EQ(actions_.died, ProcessSet{{1}});
}

TEST_F(DetectorTest, enough_answers_must_be_there_for_a_quarter_of_delta) {
  tick_until(start + 1500ms);
  receive(3, Kind::answer, start + 1501ms, {{1}});
  tick_until(start + 2399ms);
  receive(4, Kind::answer, start + 2400ms, {{1}});
  receive(5, Kind::answer, start + 2400ms, {{1}});
  tick_until(start + 2649ms);
  EXPECT_EQ(actions_.died, ProcessSet{});
  tick_until(start + 2650ms);
  EXPECT_EQ(actions_.died, (ProcessSet{{0}, {1}})) << "and 0 has had its time as well";
}

TEST_F(DetectorTest, whoever_shares_the_machine_and_is_silent_too_is_dead_half_of_delta_later) {
  tick_until(start + 1500ms);
  for (std::uint32_t p : {3U, 4U, 5U}) receive(p, Kind::answer, start + 1501ms, {{1}});
  tick_until(start + 2499ms);
  EXPECT_EQ(detector_.known_dead(), ProcessSet{{1}});
  tick_until(start + 2500ms);
  EXPECT_EQ(detector_.known_dead(), (ProcessSet{{0}, {1}}));
}

TEST_F(DetectorTest, whoever_answers_late_lives) {
  tick_until(start + 1500ms);
  for (std::uint32_t p : {3U, 4U, 5U}) receive(p, Kind::answer, start + 1501ms, {{1}});
  receive(0, Kind::answer, start + 2400ms, {{1}});
  tick_until(start + 3s);
  EXPECT_EQ(detector_.known_dead(), ProcessSet{{1}});
}

TEST_F(DetectorTest, is_cut_off_when_too_few_have_answered_delta_after_that) {
  tick_until(start + 1500ms);
  receive(3, Kind::answer, start + 1501ms, {{1}});
  tick_until(start + 2999ms);
  EXPECT_FALSE(actions_.cut_off);
  tick_until(start + 3s);
  EXPECT_TRUE(actions_.cut_off);
  EXPECT_EQ(detector_.known_dead(), ProcessSet{});
}

TEST_F(DetectorTest, believes_in_the_silent_one_as_soon_as_it_is_heard_of) {
  for (const Kind kind : {Kind::heartbeat, Kind::answer, Kind::inquiry}) {
    Detector detector({2}, timing);
    Actions actions;
    detector.enter({{1}, 6, {}}, nodes, start, actions);
    for (Time now = start; now <= start + 1500ms; now += 100ms) detector.tick(now, actions);
    for (std::uint32_t p : {3U, 4U, 5U}) detector.receive({p}, {Kind::answer, {1}, {}, {{1}}}, start + 1501ms, actions);
    const ProcessSet about = kind == Kind::heartbeat ? ProcessSet{} : ProcessSet{{1}};
    detector.receive({1}, {kind, {1}, {}, about}, start + 1990ms, actions);
    EXPECT_EQ(actions.sends.back().message.kind, kind == Kind::inquiry ? Kind::answer : Kind::withdrawal);
    for (Time now = start + 1600ms; now < start + 2490ms; now += 100ms) detector.tick(now, actions);
    EXPECT_EQ(actions.died, ProcessSet{});
    actions.clear();
    detector.tick(start + 2490ms, actions);
    EXPECT_EQ(actions.sends.back().message.kind, Kind::inquiry) << "and asks again when it is silent again";
  }
}

TEST_F(DetectorTest, tells_everybody_that_the_silent_one_lives) {
  tick_until(start + 1500ms);
  receive(1, Kind::heartbeat, start + 1501ms);
  EXPECT_THAT(sent(), ElementsAre("WITHDRAWAL({1}) to 0", "WITHDRAWAL({1}) to 1", "WITHDRAWAL({1}) to 3",
                                  "WITHDRAWAL({1}) to 4", "WITHDRAWAL({1}) to 5"));
}

TEST_F(DetectorTest, needs_no_answers_when_another_witness_has_seen_the_death) {
  tick_until(start + 2s);
  actions_.clear();
  detector_.witness({{1}}, Told::everyone, start + 2500ms, actions_);
  EXPECT_EQ(actions_.died, ProcessSet{{1}});
  receive(0, Kind::answer, start + 2501ms, {{1}});
  tick_until(start + 3100ms);
  EXPECT_FALSE(actions_.cut_off);
  EXPECT_EQ(detector_.suspicions(), 0U);
}

TEST_F(DetectorTest, asks_as_well_when_it_hears_no_more_of_what_another_asked) {
  receive(3, Kind::inquiry, start + 500ms, {{4}});
  receive(1, Kind::heartbeat, start + 1400ms);
  tick_until(start + 1500ms);
  EXPECT_EQ(sent().front(), "INQUIRY({4}) to 0");
  for (std::uint32_t p : {0U, 1U, 3U}) receive(p, Kind::answer, start + 1501ms, {{4}});
  receive(1, Kind::heartbeat, start + 2300ms);
  tick_until(start + 2600ms);
  EXPECT_EQ(actions_.died, ProcessSet{}) << "it has not observed 4 itself";
  EXPECT_FALSE(actions_.cut_off);
}

TEST_F(DetectorTest, does_not_ask_when_it_hears_how_that_came_out) {
  receive(3, Kind::inquiry, start + 500ms, {{5}});
  receive(3, Kind::withdrawal, start + 600ms, {{5}});
  receive(3, Kind::inquiry, start + 700ms, {{4}});
  receive(3, Kind::deaths, start + 800ms, {{4}});
  receive(1, Kind::heartbeat, start + 1400ms);
  for (Time now = start + 1400ms; now <= start + 1800ms; now += 100ms) {
    tick(now);
    EXPECT_THAT(sent(), IsEmpty());
  }
}

TEST_F(DetectorTest, learns_from_heartbeats_what_a_broadcast_has_missed) {
  receive(1, Kind::heartbeat, start, {{4}});
  EXPECT_EQ(actions_.died, ProcessSet{{4}});
  tick(start + 100ms);
  ASSERT_EQ(actions_.sends.size(), 1U);
  EXPECT_EQ(to_string(actions_.sends.front().message), "HEARTBEAT({4})");
  receive(1, Kind::heartbeat, start, {{2}});
  EXPECT_TRUE(actions_.fenced);
}

TEST_F(DetectorTest, names_only_members_of_its_epoch_in_heartbeats) {
  detector_.witness({{7}}, Told::nobody, start, actions_);
  tick(start);
  ASSERT_EQ(actions_.sends.size(), 1U);
  EXPECT_EQ(to_string(actions_.sends.front().message), "HEARTBEAT");
}

TEST_F(DetectorTest, counts_who_was_declared_dead_and_may_live_among_those_that_could_answer) {
  detector_.declare({{5}}, start, actions_);
  EXPECT_EQ(actions_.died, ProcessSet{{5}});
  tick_until(start + 1500ms);
  EXPECT_THAT(sent(), ElementsAre("INQUIRY({1}) to 0", "INQUIRY({1}) to 1", "INQUIRY({1}) to 3", "INQUIRY({1}) to 4"));
  receive(3, Kind::answer, start + 1501ms, {{1}});
  receive(4, Kind::answer, start + 1501ms, {{1}});
  tick_until(start + 3s);
  EXPECT_TRUE(actions_.cut_off) << "5 may answer the other half, which has the lowest process";
  EXPECT_EQ(detector_.known_dead(), ProcessSet{{5}});
}

TEST_F(DetectorTest, does_not_count_who_is_certain_to_be_dead_among_those_that_could_answer) {
  detector_.witness({{5}}, Told::nobody, start, actions_);
  tick_until(start + 1500ms);
  receive(3, Kind::answer, start + 1501ms, {{1}});
  receive(4, Kind::answer, start + 1501ms, {{1}});
  tick_until(start + 2s);
  EXPECT_EQ(detector_.known_dead(), (ProcessSet{{1}, {5}}));
}

TEST_F(DetectorTest, answers_whoever_asks_but_the_dead) {
  receive(5, Kind::inquiry, start, {{3}});
  EXPECT_THAT(sent(), ElementsAre("ANSWER({3}) to 5"));
  actions_.clear();
  detector_.witness({{5}}, Told::everyone, start, actions_);
  receive(5, Kind::inquiry, start, {{3}});
  EXPECT_THAT(sent(), ElementsAre("FENCE to 5"));
}

TEST_F(BesideItsEmitter, holds_it_dead_at_once_because_it_can_make_that_true) {
  tick_until(start + 2s);
  EXPECT_EQ(actions_.died, ProcessSet{{2}});
  EXPECT_EQ(sent().front(), "NEWOBSERVER to 1");
}

TEST_F(BesideItsEmitter, lets_no_other_message_take_away_the_time_for_its_first_heartbeat) {
  receive(2, Kind::answer, start + 10ms, {{5}});
  const Message late_one{Kind::heartbeat, {0}, {}, {}};
  EXPECT_TRUE(detector_.receive({2}, late_one, start + 20ms, actions_));
  tick_until(start + 1999ms);
  EXPECT_EQ(actions_.died, ProcessSet{});
  tick_until(start + 2s);
  EXPECT_EQ(actions_.died, ProcessSet{{2}});
}

TEST_F(BesideItsEmitter, does_not_blame_it_for_the_time_in_which_itself_could_not_run) {
  for (Time now = start; now <= start + 500ms; now += 100ms) {
    receive(2, Kind::heartbeat, now);
    tick(now);
  }
  tick(start + 10s);
  EXPECT_EQ(actions_.died, ProcessSet{});
  receive_late(2, Kind::heartbeat, start + 10'001ms);
  EXPECT_LE(detector_.longest_silence(), 200ms);
  EXPECT_EQ(detector_.delta(), timing.delta);
  tick_until(start + 11'002ms);
  EXPECT_EQ(actions_.died, ProcessSet{{2}}) << "and finds its death as soon as ever";
}

TEST_F(BesideItsEmitter, asks_whether_it_is_held_dead_when_it_could_not_run_for_long) {
  tick(start);
  receive_late(2, Kind::heartbeat, start + 900ms);
  EXPECT_THAT(sent(), IsEmpty());
  receive_late(2, Kind::heartbeat, start + 3s);
  EXPECT_THAT(sent(), ElementsAre("INQUIRY({3}) to 0", "INQUIRY({3}) to 1", "INQUIRY({3}) to 2", "INQUIRY({3}) to 4",
                                  "INQUIRY({3}) to 5"));
  receive_late(0, Kind::answer, start + 3001ms, {{3}});
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(BesideItsEmitter, suspects_in_the_end_though_it_is_late_every_time) {
  Time now = start;
  while (detector_.known_dead().empty() && now < start + 60s) {
    now = *detector_.next_deadline() + 60ms;
    tick(now);
  }
  EXPECT_EQ(detector_.known_dead(), ProcessSet{{2}});
  EXPECT_LT(now, start + 40s);
}

TEST_F(BesideItsEmitter, notices_its_delay_by_a_message_that_has_waited_as_well) {
  receive(2, Kind::heartbeat, start);
  tick(start);
  receive_late(2, Kind::heartbeat, start + 10s);
  EXPECT_LE(detector_.longest_silence(), 200ms);
}

TEST_F(BesideItsEmitter, waits_three_times_the_silence_it_is_used_to) {
  receive(2, Kind::heartbeat, start);
  for (Time now = start; now < start + 700ms; now += 100ms) tick(now);
  receive(2, Kind::heartbeat, start + 700ms);
  EXPECT_EQ(detector_.longest_silence(), 700ms);
  EXPECT_EQ(detector_.delta(), 2100ms);
}

// --- any bytes from the wire

TEST_F(DetectorTest, speaks_of_members_alone_whatever_comes_over_the_wire) {
  const ProcessSet members = ProcessSet::first(static_cast<std::uint32_t>(nodes.size()));
  support::Fuzzer fuzzer;
  int taken = 0;
  int refused = 0;
  for (int i = 0; i < support::fuzz_inputs(); ++i) {
    const bool begins_anew = i % 5 == 0;
    if (begins_anew) {
      detector_ = Detector({2}, timing);
      actions_.clear();
      detector_.enter({{1}, 6, {}}, nodes, start, actions_);
    }
    std::vector<std::byte> bytes;
    write(all_messages[fuzzer.below(all_messages.size())], bytes);
    Message message;
    try {
      message = read(fuzzer.change(bytes));
    } catch (const EnvironmentError&) {
      ++refused;
      continue;
    }
    actions_.clear();
    const ProcessId from{static_cast<std::uint32_t>(fuzzer.below(6))};
    taken += detector_.receive(from, message, start + (i % 5) * 10ms, actions_) ? 1 : 0;
    ASSERT_TRUE(members.contains(actions_.died));
    for (const Actions::Send& send : actions_.sends) {
      ASSERT_TRUE(members.contains(send.to)) << to_string(send.message);
      // A process of another epoch may know other members. The answer repeats the process it has asked about.
      const bool repeats = send.message.kind == Kind::answer && send.message.dead == message.dead;
      ASSERT_TRUE(repeats || members.contains(send.message.dead)) << to_string(send.message);
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace mend::detector
