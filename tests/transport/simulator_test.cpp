#include "transport/simulated/simulator.hpp"

#include <gmock/gmock.h>

#include <string>

namespace mend::transport {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// Records the events. Process 0 sends "a", "b", ... to all others when it wakes.
struct Diary {
  std::vector<std::string> lines;
  Simulator<std::string, Diary>* simulator = nullptr;
  int rounds = 1;

  void receive(ProcessId to, ProcessId from, const std::string& message) {
    note(to, "got " + message + " from " + std::to_string(from.value));
  }
  void dead(ProcessId to, ProcessId gone) { note(to, "knows of " + std::to_string(gone.value)); }
  void wake(ProcessId process) {
    for (int round = 0; round < rounds; ++round) {
      for (std::uint32_t p = 0; p < simulator->size(); ++p) {
        if (p != process.value) simulator->send(process, {p}, std::string(1, static_cast<char>('a' + round)));
      }
    }
  }
  ByteCount size_of(const std::string& message) const { return message.size(); }
  void note(ProcessId process, const std::string& what) {
    lines.push_back(std::to_string(simulator->now(process).count()) + " " + std::to_string(process.value) + " " + what);
  }
};

NetworkModel plain() {
  NetworkModel model;
  model.between_nodes = {1000ns, 100ns, 10.0};
  model.detection_least = model.detection_most = 500ns;
  return model;
}

TEST(Simulator, sends_one_message_after_another_through_one_port) {
  Diary diary;
  Simulator<std::string, Diary> simulator(3, plain(), 1, diary);
  diary.simulator = &simulator;
  simulator.wake({0}, 50ns);
  simulator.run();
  // 50 + overhead 100 + 1 byte at 10, + latency 1000, + overhead 100 at the receiver; the second leaves 110 later.
  EXPECT_THAT(diary.lines, ElementsAre("1260 1 got a from 0", "1370 2 got a from 0"));
}

TEST(Simulator, a_busy_receiver_makes_messages_wait) {
  Diary diary;
  Simulator<std::string, Diary> simulator(3, plain(), 1, diary);
  diary.simulator = &simulator;
  simulator.send({0}, {2}, "x");
  simulator.send({1}, {2}, "y");
  simulator.run();
  EXPECT_THAT(diary.lines, ElementsAre("1210 2 got x from 0", "1310 2 got y from 1"));
}

TEST(Simulator, neighbours_on_a_node_are_nearer) {
  NetworkModel model = plain();
  model.processes_per_node = 2;
  model.within_node = {10ns, 1ns, 0.0};
  Diary diary;
  Simulator<std::string, Diary> simulator(3, model, 1, diary);
  diary.simulator = &simulator;
  simulator.send({1}, {0}, "x");
  simulator.send({1}, {2}, "y");
  simulator.run();
  EXPECT_THAT(diary.lines, ElementsAre("12 0 got x from 1", "1211 2 got y from 1"));
}

TEST(Simulator, one_who_dies_between_two_sends_has_sent_only_the_first) {
  NetworkModel model = plain();
  model.detection_least = model.detection_most = 5000ns;
  Diary diary;
  Simulator<std::string, Diary> simulator(3, model, 1, diary);
  diary.simulator = &simulator;
  simulator.wake({0}, 0ns);
  simulator.kill({0}, 150ns);  // the first left at 110, the second would have at 220
  simulator.run();
  EXPECT_THAT(diary.lines, ElementsAre("1210 1 got a from 0", "5150 1 knows of 0", "5150 2 knows of 0"));
}

TEST(Simulator, nobody_receives_after_dying) {
  Diary diary;
  Simulator<std::string, Diary> simulator(2, plain(), 1, diary);
  diary.simulator = &simulator;
  simulator.send({1}, {0}, "too late");
  simulator.kill({0}, 1250ns);  // it arrives at 1180 and would have been received by 1280
  simulator.run();
  EXPECT_THAT(diary.lines, ElementsAre("1750 1 knows of 0"));
}

TEST(Simulator, nothing_of_the_dead_arrives_where_the_death_is_known) {
  NetworkModel model = plain();
  model.detection_least = model.detection_most = 2000ns;
  Diary diary;
  Simulator<std::string, Diary> simulator(2, model, 1, diary);
  diary.simulator = &simulator;
  diary.rounds = 30;
  simulator.wake({0}, 0ns);
  simulator.kill({0}, 300ns);
  simulator.run();
  // Sends end at 110, 220, 330, ...: two have left before 300, and arrive before 2300.
  EXPECT_THAT(diary.lines, ElementsAre("1210 1 got a from 0", "1320 1 got b from 0", "2300 1 knows of 0"));
}

TEST(Simulator, messages_between_two_never_overtake_each_other_whatever_the_jitter) {
  NetworkModel model = plain();
  model.jitter = 50us;
  Diary diary;
  Simulator<std::string, Diary> simulator(2, model, 77, diary);
  diary.simulator = &simulator;
  diary.rounds = 20;
  simulator.wake({0}, 0ns);
  simulator.run();
  ASSERT_EQ(diary.lines.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_THAT(diary.lines[i], ::testing::HasSubstr(std::string("got ") + static_cast<char>('a' + i)));
  }
}

TEST(Simulator, is_the_same_for_the_same_seed_and_not_for_another) {
  const auto run = [](std::uint64_t seed) {
    NetworkModel model = plain();
    model.jitter = 5us;
    Diary diary;
    Simulator<std::string, Diary> simulator(9, model, seed, diary);
    diary.simulator = &simulator;
    simulator.wake({0}, 0ns);
    simulator.run();
    return diary.lines;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST(Simulator, keeps_deaths_to_itself_if_the_model_says_so) {
  NetworkModel model = plain();
  model.tells_of_deaths = false;
  Diary diary;
  Simulator<std::string, Diary> simulator(3, model, 1, diary);
  diary.simulator = &simulator;
  simulator.wake({0}, 50ns);
  simulator.kill({0}, 200ns);
  simulator.run();
  EXPECT_THAT(diary.lines, ElementsAre("1260 1 got a from 0")) << "what had left arrives, however late";
}

TEST(Simulator, stops_before_the_end_it_is_given) {
  Diary diary;
  Simulator<std::string, Diary> simulator(3, plain(), 1, diary);
  diary.simulator = &simulator;
  simulator.wake({0}, 50ns);
  simulator.run(1200ns);
  EXPECT_THAT(diary.lines, ElementsAre("1260 1 got a from 0"));
  simulator.run();
  EXPECT_EQ(diary.lines.size(), 2U);
}

}  // namespace
}  // namespace mend::transport
