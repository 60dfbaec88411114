// The tasks of algorithm 1, one by one, on one process of a ring of five.

#include "detector/ring.hpp"

#include "base/error.hpp"
#include "tests/detector/ring_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>

namespace mend::detector {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class RingTest : public testing::Test {
 protected:
  RingTest() { ring_.enter({{1}, 5, {}}, start, actions_); }

  static Message message(Message::Kind kind) { return {kind, {1}, {}, {}}; }
  static Message deaths(std::uint32_t source, const ProcessSet& dead) {
    return {Message::Kind::deaths, {1}, {source}, dead};
  }
  void receive(std::uint32_t from, const Message& message, Time now) {
    actions_.clear();
    ring_.receive({from}, message, now, actions_);
  }
  /// Trusts a suspicion, as the paper does.
  void tick(Time now) {
    actions_.clear();
    ring_.tick(now, actions_);
    if (!actions_.suspected.empty()) ring_.witness(actions_.suspected, Told::nobody, now, actions_);
  }
  /// Returns lines such as "HEARTBEAT to 3".
  std::vector<std::string> sent() const {
    std::vector<std::string> lines;
    for (const Actions::Send& send : actions_.sends) {
      lines.push_back(to_string(send.message) + " to " + std::to_string(send.to.value));
    }
    return lines;
  }

  Ring ring_{{2}, timing};
  Actions actions_;
};

TEST_F(RingTest, stands_between_its_predecessor_and_its_successor) {
  EXPECT_EQ(ring_.emitter(), ProcessId{1});
  EXPECT_EQ(ring_.observer(), ProcessId{3});
  EXPECT_EQ(ring_.next_deadline(), start);
}

TEST_F(RingTest, forgets_what_came_early_and_speaks_of_processes_that_the_epoch_has_not) {
  const std::array<ProcessSet::Run, 1> nobody_knows{{{{4}, {0xffffffff}}}};
  receive(3, {Message::Kind::deaths, {2}, {3}, ProcessSet::from_runs(nobody_knows)}, start);
  receive(3, {Message::Kind::deaths, {2}, {3}, {{5}}}, start);
  ring_.enter({{2}, 6, {}}, start + 1ms, actions_);
  EXPECT_EQ(ring_.known_dead(), ProcessSet{ProcessId{5}});
}

TEST_F(RingTest, t1_sends_a_heartbeat_every_eta) {
  tick(start);
  EXPECT_THAT(sent(), ElementsAre("HEARTBEAT to 3"));
  EXPECT_EQ(ring_.next_deadline(), start + 100ms);
  tick(start + 99ms);
  EXPECT_THAT(sent(), IsEmpty());
  tick(start + 100ms);
  EXPECT_THAT(sent(), ElementsAre("HEARTBEAT to 3"));
}

TEST_F(RingTest, t2_trusts_its_emitter_for_delta_after_each_heartbeat) {
  receive(1, message(Message::Kind::heartbeat), start + 50ms);
  tick(start + 1049ms);
  EXPECT_THAT(actions_.died, ProcessSet{});
  receive(1, message(Message::Kind::heartbeat), start + 1049ms);
  tick(start + 2048ms);
  EXPECT_THAT(actions_.died, ProcessSet{});
  tick(start + 2049ms);
  EXPECT_EQ(actions_.died, ProcessSet{{1}});
}

TEST_F(RingTest, t2_is_about_its_emitter_alone) {
  receive(0, message(Message::Kind::heartbeat), start + 1999ms);
  tick(start + 2s);
  EXPECT_EQ(actions_.died, ProcessSet{{1}});
}

TEST_F(RingTest, t3_suspects_once_and_trusts_again_whoever_is_heard_of) {
  ring_.tick(start + 2s, actions_);
  EXPECT_EQ(actions_.suspected, ProcessSet{{1}});
  EXPECT_EQ(actions_.died, ProcessSet{}) << "its owner makes sure first";
  EXPECT_EQ(ring_.emitter(), ProcessId{1});
  actions_.clear();
  ring_.tick(start + 5s, actions_);
  EXPECT_EQ(actions_.suspected, ProcessSet{});
  receive(1, message(Message::Kind::heartbeat), start + 6s);
  actions_.clear();
  ring_.tick(start + 7s, actions_);
  EXPECT_EQ(actions_.suspected, ProcessSet{{1}});
}

TEST_F(RingTest, t3_closes_the_ring_and_tells_everyone) {
  tick(start + 1999ms);
  tick(start + 2s);
  EXPECT_EQ(actions_.died, ProcessSet{{1}});
  EXPECT_EQ(ring_.emitter(), ProcessId{0});
  EXPECT_THAT(sent(), ElementsAre("NEWOBSERVER to 0", "DEATHS({1}, from 2) to 3", "DEATHS({1}, from 2) to 4",
                                  "DEATHS({1}, from 2) to 0"));
  tick(start + 2s + 1999ms);
  EXPECT_EQ(actions_.died, ProcessSet{}) << "the new emitter has 2 delta";
  tick(start + 4s);
  EXPECT_EQ(actions_.died, ProcessSet{{0}});
  EXPECT_EQ(ring_.known_dead(), (ProcessSet{{0}, {1}}));
  EXPECT_EQ(ring_.emitter(), ProcessId{4});
}

TEST_F(RingTest, t4_turns_to_its_new_observer_at_once) {
  tick(start);
  receive(4, message(Message::Kind::new_observer), start + 10ms);
  EXPECT_THAT(sent(), ElementsAre("HEARTBEAT to 4"));
  EXPECT_EQ(actions_.died, ProcessSet{{3}}) << "or 4 would not observe 2";
  EXPECT_EQ(ring_.observer(), ProcessId{4});
}

TEST_F(RingTest, t5_passes_a_broadcast_on_once) {
  receive(3, deaths(3, {{4}}), start);
  EXPECT_EQ(actions_.died, ProcessSet{{4}});
  EXPECT_THAT(sent(), ElementsAre("DEATHS({4}, from 3) to 1", "DEATHS({4}, from 3) to 0"));
  receive(0, deaths(3, {{4}}), start);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(RingTest, t5_passes_on_what_it_knew_already) {
  receive(3, deaths(3, {{4}}), start);
  receive(0, deaths(0, {{4}}), start);
  EXPECT_EQ(actions_.died, ProcessSet{});
  EXPECT_FALSE(actions_.sends.empty()) << "others may have no other way to hear";
}

TEST_F(RingTest, passes_over_all_dead_that_it_has_been_told_of) {
  receive(0, deaths(0, {{4}}), start);
  receive(4, deaths(4, {{0}, {1}}), start);
  EXPECT_EQ(ring_.emitter(), ProcessId{3}) << "4 was held dead before";
  EXPECT_EQ(sent().front(), "NEWOBSERVER to 3");
}

TEST_F(RingTest, another_witness_is_believed_at_once) {
  actions_.clear();
  ring_.witness({{4}}, Told::nobody, start, actions_);
  EXPECT_EQ(actions_.died, ProcessSet{{4}});
  EXPECT_EQ(sent().size(), 3U) << "all others hear of it";
  actions_.clear();
  ring_.witness({{4}}, Told::nobody, start, actions_);
  EXPECT_THAT(sent(), IsEmpty()) << "nothing new";
}

TEST_F(RingTest, names_only_members_of_its_epoch_until_the_next_one) {
  ring_.witness({{7}}, Told::nobody, start, actions_);
  EXPECT_THAT(sent(), IsEmpty()) << "no other process of this epoch could take it";
  EXPECT_EQ(actions_.died, ProcessSet{{7}});
  ring_.witness({{4}}, Told::nobody, start, actions_);
  EXPECT_THAT(sent(), ElementsAre("DEATHS({4}, from 2) to 3", "DEATHS({4}, from 2) to 0", "DEATHS({4}, from 2) to 1"));
  EXPECT_EQ(ring_.dead_members(), ProcessSet{{4}});
  ring_.enter({{2}, 8, {{4}}}, start + 1s, actions_);
  EXPECT_EQ(ring_.dead_members(), ProcessSet{{7}});
}

TEST_F(RingTest, of_a_death_that_everyone_is_told_only_the_observer_speaks) {
  actions_.clear();
  ring_.witness({{4}}, Told::everyone, start, actions_);
  EXPECT_EQ(actions_.died, ProcessSet{{4}});
  EXPECT_THAT(sent(), IsEmpty());
  ring_.witness({{1}}, Told::everyone, start, actions_);
  EXPECT_EQ(sent().front(), "NEWOBSERVER to 0");
  EXPECT_EQ(ring_.emitter(), ProcessId{0});
}

TEST_F(RingTest, says_once_that_it_is_held_dead_and_is_silent_from_then_on) {
  receive(3, deaths(3, {{2}}), start);
  EXPECT_TRUE(actions_.fenced);
  EXPECT_TRUE(ring_.fenced());
  EXPECT_EQ(ring_.next_deadline(), std::nullopt);
  receive(3, deaths(3, {{2}}), start);
  EXPECT_FALSE(actions_.fenced);
  tick(start + 10s);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(RingTest, tells_the_dead_that_speak_to_stop) {
  tick(start + 2s);
  receive(1, message(Message::Kind::heartbeat), start + 2001ms);
  EXPECT_THAT(sent(), ElementsAre("FENCE to 1"));
  Ring woken{{1}, timing};
  Actions actions;
  woken.enter({{1}, 5, {}}, start, actions);
  woken.receive({2}, message(Message::Kind::fence), start, actions);
  EXPECT_TRUE(actions.fenced);
}

TEST_F(RingTest, tells_the_dead_that_would_observe_it_to_stop) {
  ring_.witness({{4}}, Told::nobody, start, actions_);
  receive(4, message(Message::Kind::new_observer), start);
  EXPECT_THAT(sent(), ElementsAre("FENCE to 4"));
  EXPECT_EQ(ring_.observer(), ProcessId{3});
}

TEST_F(RingTest, does_not_take_it_from_the_dead_that_it_is_dead_itself) {
  ring_.witness({{4}}, Told::nobody, start, actions_);
  receive(4, deaths(4, {{2}}), start);
  EXPECT_FALSE(actions_.fenced);
  receive(4, message(Message::Kind::fence), start);
  EXPECT_FALSE(actions_.fenced);
  receive(3, message(Message::Kind::fence), start);
  EXPECT_TRUE(actions_.fenced);
}

TEST_F(RingTest, gives_in_to_a_lower_one_when_both_hold_each_other_dead) {
  ring_.witness({{0}}, Told::nobody, start, actions_);
  receive(0, message(Message::Kind::fence), start);
  EXPECT_TRUE(actions_.fenced);
}

TEST_F(RingTest, does_not_take_it_from_an_older_epoch_that_it_is_dead) {
  ring_.enter({{2}, 5, {}}, start, actions_);
  receive(3, message(Message::Kind::fence), start);
  receive(3, deaths(3, {{2}}), start);
  EXPECT_FALSE(ring_.fenced());
  receive(3, {Message::Kind::fence, {3}, {}, {}}, start);
  EXPECT_TRUE(ring_.fenced()) << "a later one went on without it";
}

TEST_F(RingTest, ignores_an_older_epoch_and_keeps_a_later_one_for_when_it_gets_there) {
  Message old = message(Message::Kind::new_observer);
  old.epoch = {0};
  receive(4, old, start);
  EXPECT_EQ(ring_.observer(), ProcessId{3});
  Message early = message(Message::Kind::new_observer);
  early.epoch = {2};
  receive(4, early, start);
  EXPECT_EQ(ring_.observer(), ProcessId{3});
  actions_.clear();
  ring_.enter({{2}, 6, {}}, start + 1s, actions_);
  EXPECT_EQ(ring_.observer(), ProcessId{4});
  EXPECT_EQ(ring_.known_dead(), ProcessSet{{3}});
}

TEST_F(RingTest, lets_newcomers_in_with_the_next_epoch_and_leaves_out_those_agreed_dead) {
  receive(3, deaths(3, {{4}}), start);
  actions_.clear();
  ring_.enter({{2}, 7, {{1}, {3}, {4}}}, start + 1s, actions_);
  EXPECT_EQ(ring_.emitter(), ProcessId{0});
  EXPECT_EQ(ring_.observer(), ProcessId{5});
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(ring_.known_dead(), (ProcessSet{{1}, {3}, {4}}));
}

TEST_F(RingTest, takes_deaths_that_were_not_agreed_on_along) {
  receive(3, deaths(3, {{1}}), start);
  actions_.clear();
  ring_.enter({{2}, 6, {}}, start + 1s, actions_);
  EXPECT_EQ(ring_.emitter(), ProcessId{0});
  EXPECT_EQ(sent().front(), "NEWOBSERVER to 0");
  EXPECT_EQ(sent().size(), 5U);
}

TEST_F(RingTest, is_alone_when_all_others_are_dead) {
  ring_.witness({{0}, {1}, {3}, {4}}, Told::nobody, start, actions_);
  EXPECT_EQ(ring_.emitter(), ProcessId{2});
  EXPECT_EQ(ring_.next_deadline(), std::nullopt);
  tick(start + 10s);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(RingTest, is_not_led_astray_by_processes_that_cannot_be) {
  receive(77, message(Message::Kind::new_observer), start);
  EXPECT_EQ(ring_.observer(), ProcessId{3});
  receive(2, message(Message::Kind::new_observer), start);
  EXPECT_EQ(ring_.known_dead(), ProcessSet{});
  receive(77, deaths(78, {{4}}), start);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST(Ring, refuses_times_and_epochs_that_cannot_work) {
  EXPECT_THROW(Ring({0}, {1s, 1s}), UsageError);
  EXPECT_THROW(Ring({0}, {0s, 1s}), UsageError);
  Ring ring({2}, timing);
  Actions actions;
  EXPECT_EQ(ring.next_deadline(), std::nullopt) << "in no ring yet";
  EXPECT_THROW(ring.enter({{0}, 2, {}}, start, actions), UsageError) << "not a member";
  ring.enter({{3}, 3, {}}, start, actions);
  EXPECT_THROW(ring.enter({{3}, 4, {}}, start, actions), UsageError);
}

}  // namespace
}  // namespace mend::detector
