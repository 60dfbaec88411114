// The timed explorer on protocols so small that the results are known.

#include "transport/simulated/timed_explorer.hpp"

#include <gtest/gtest.h>

#include <set>

namespace mend::transport {
namespace {

/// Process 0 sends "1" and "2" to process 1 when its clock first ticks. Each process counts ticks up to 5, and notes
/// the messages it hears, in order, with their ticks.
struct Timekeeper {
  using Message = int;
  std::uint32_t self = 0;
  int ticks = 0;
  std::vector<std::pair<int, int>> heard;  // message, tick
  bool knows = false;

  void tick(Outbox<int>& outbox) {
    if (ticks < 5) ++ticks;
    if (self != 0 || ticks != 1) return;
    for (int message : {1, 2}) outbox.sends.emplace_back(ProcessId{1}, message);
  }
  void receive(ProcessId, int message, Outbox<int>&) { heard.emplace_back(message, ticks); }
  void dead(ProcessId, Outbox<int>&) { knows = true; }
  std::size_t moves() const { return 0; }
  void move(std::size_t, Outbox<int>&) {}
  bool ignores(ProcessId, int) const { return false; }
  bool knows_dead(ProcessId) const { return knows; }
  void add_to(Fingerprint& print) const {
    print.add(static_cast<std::uint64_t>(ticks * 2 + (knows ? 1 : 0)));
    for (const auto& [message, at] : heard) print.add(static_cast<std::uint64_t>(message * 10 + at));
  }
  static void add_to_print(Fingerprint& print, int message) { print.add(static_cast<std::uint64_t>(message)); }
  std::string describe_move(std::size_t) const { return ""; }
  static std::string describe(int message) { return std::to_string(message); }
  std::string describe() const { return heard.empty() ? "" : " has heard " + std::to_string(heard.size()); }
};

std::vector<Timekeeper> two() {
  std::vector<Timekeeper> both(2);
  both[1].self = 1;
  return both;
}

TimedExploration explore(TimedExplorer<Timekeeper>::Promise promise, TimedExplorer<Timekeeper>::Settled settled,
                         TimedLimits limits = {}) {
  return TimedExplorer<Timekeeper>(
             two(), std::move(promise), std::move(settled), [](int) { return std::uint8_t{2}; }, limits)
      .run();
}

bool always(const TimedSituation<Timekeeper>&) { return true; }

TEST(TimedExplorer, delivers_each_message_in_any_tick_that_it_may_take_and_in_any_order) {
  std::set<std::vector<std::pair<int, int>>> seen;
  const auto found = explore(
      [&](const auto& now) -> std::optional<std::string> {
        if (now.nodes[1]->heard.size() == 2) seen.insert(now.nodes[1]->heard);
        return std::nullopt;
      },
      always);
  EXPECT_TRUE(found.complete);
  using Heard = std::vector<std::pair<int, int>>;
  EXPECT_EQ(seen, (std::set<Heard>{Heard{{1, 2}, {2, 2}}, Heard{{2, 2}, {1, 2}}, Heard{{1, 2}, {2, 3}},
                                   Heard{{2, 2}, {1, 3}}, Heard{{1, 3}, {2, 3}}, Heard{{2, 3}, {1, 3}}}));
}

TEST(TimedExplorer, lets_a_process_die_between_any_two_of_its_sends) {
  std::set<std::size_t> heard_of_the_dead;
  TimedLimits limits;
  limits.deaths = 1;
  explore(
      [&](const auto& now) -> std::optional<std::string> {
        if (!now.lives(0) && now.nodes[1]->ticks == 5) heard_of_the_dead.insert(now.nodes[1]->heard.size());
        for (const auto& [message, at] : now.nodes[1]->heard) {
          if (at < 2 || at > 3) return "a message took too long";
        }
        return std::nullopt;
      },
      always, limits);
  EXPECT_EQ(heard_of_the_dead, (std::set<std::size_t>{0, 1, 2}));
}

TEST(TimedExplorer, counts_for_how_long_the_system_is_not_settled) {
  const auto both_heard = [](const TimedSituation<Timekeeper>& now) { return now.nodes[1]->heard.size() == 2; };
  const auto found = explore([](const auto&) { return std::nullopt; }, both_heard);
  EXPECT_EQ(found.longest_unsettled, 2U) << "the ticks before that in which the last message must arrive";
  const auto late = explore(
      [](const auto& now) -> std::optional<std::string> {
        if (now.unsettled_for > 1) return "too late";
        return std::nullopt;
      },
      both_heard);
  EXPECT_EQ(late.violation, "too late");
  EXPECT_EQ(late.transcript, "  in the end 0 lives\n  in the end 1 lives\n");
}

TEST(TimedExplorer, tells_of_deaths_as_often_as_there_are_witnesses) {
  TimedLimits limits;
  limits.deaths = 1;
  const auto told = [&] {
    bool any = false;
    explore(
        [&](const auto& now) -> std::optional<std::string> {
          if (now.living == 3 && (now.nodes[0]->knows || now.nodes[1]->knows)) return "a false alarm";
          any = any || now.nodes[1]->knows;
          return std::nullopt;
        },
        always, limits);
    return any;
  };
  EXPECT_FALSE(told());
  limits.witnesses = 1;
  EXPECT_TRUE(told());
}

TEST(TimedExplorer, says_when_it_has_not_seen_everything) {
  TimedLimits limits;
  limits.states = 3;
  EXPECT_FALSE(explore([](const auto&) { return std::nullopt; }, always, limits).complete);
  EXPECT_THROW(TimedExplorer<Timekeeper>(
                   std::vector<Timekeeper>(9), [](const auto&) { return std::nullopt; }, always,
                   [](int) { return std::uint8_t{1}; }, {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace mend::transport
