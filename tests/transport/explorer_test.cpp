// The explorer on protocols so small that the results are known.

#include "transport/simulated/explorer.hpp"

#include <gtest/gtest.h>

namespace mend::transport {
namespace {

/// Process 0 sends "1" and "2" to the others when its caller says so; each notes the last message it has heard.
struct Teller {
  using Message = int;
  std::uint32_t self = 0;
  std::uint32_t others = 1;
  bool told = false;
  int heard = 0;
  bool knows_of_death = false;
  bool echoes = false;

  std::size_t moves() const { return self == 0 && !told ? 1 : 0; }
  void move(std::size_t, Outbox<int>& outbox) {
    told = true;
    for (int message : {1, 2}) {
      for (std::uint32_t p = 1; p <= others; ++p) outbox.sends.emplace_back(ProcessId{p}, message);
    }
  }
  void receive(ProcessId from, int message, Outbox<int>& outbox) {
    heard = message;
    if (echoes) outbox.sends.emplace_back(from, message);
  }
  void dead(ProcessId, Outbox<int>&) { knows_of_death = true; }
  bool ignores(ProcessId) const { return false; }
  void add_to(Fingerprint& print) const {
    print.add((told ? 1U : 0U) + (knows_of_death ? 2U : 0U));
    print.add(static_cast<std::uint64_t>(heard));
  }
  static void add_to_print(Fingerprint& print, int message) { print.add(static_cast<std::uint64_t>(message)); }
  std::string describe_move(std::size_t) const { return "speaks"; }
  static std::string describe(int message) { return std::to_string(message); }
  std::string describe() const { return " and has heard " + std::to_string(heard); }
};

std::vector<Teller> tellers(std::uint32_t count) {
  std::vector<Teller> all(count);
  for (std::uint32_t p = 0; p < count; ++p) {
    all[p].self = p;
    all[p].others = count - 1;
  }
  return all;
}

std::optional<std::string> anything_goes(const Situation<Teller>&) { return std::nullopt; }

TEST(Explorer, visits_every_order_of_deliveries) {
  // Before the caller acts: one state. Then each of two receivers has heard 0, 1 or 2 messages, in order.
  const Exploration found = Explorer<Teller>(tellers(3), anything_goes, {}).run();
  EXPECT_EQ(found.states, 1U + 3U * 3U);
  EXPECT_EQ(found.steps, 1U + 2U * 6U);
  EXPECT_EQ(found.at_rest, 1U);
  EXPECT_TRUE(found.complete);
}

TEST(Explorer, lets_a_process_die_between_any_two_of_its_sends) {
  ExplorationLimits limits;
  limits.deaths = 1;
  std::array<std::array<bool, 3>, 3> at_rest_with{};
  Explorer<Teller>(
      tellers(3),
      [&](const Situation<Teller>& now) -> std::optional<std::string> {
        if (now.at_rest && !now.lives(0)) {
          at_rest_with[static_cast<std::size_t>(now.nodes[1]->heard)][static_cast<std::size_t>(now.nodes[2]->heard)] =
              true;
        }
        return std::nullopt;
      },
      limits)
      .run();
  for (const auto& row : at_rest_with) {
    for (bool reached : row) EXPECT_TRUE(reached);
  }
}

TEST(Explorer, shows_the_shortest_run_that_breaks_a_promise) {
  const Exploration found = Explorer<Teller>(tellers(3),
                                             [](const Situation<Teller>& now) -> std::optional<std::string> {
                                               if (now.nodes[2]->heard == 2) return "2 has heard 2";
                                               return std::nullopt;
                                             },
                                             {})
                                .run();
  EXPECT_EQ(found.violation, "2 has heard 2");
  EXPECT_EQ(found.transcript,
            "  0 speaks; sends 1 to 1; sends 1 to 2; sends 2 to 1; sends 2 to 2\n"
            "  2 receives 1 from 0; now and has heard 1\n"
            "  2 receives 2 from 0; now and has heard 2\n"
            "  in the end 0 lives and has heard 0\n"
            "  in the end 1 lives and has heard 0\n"
            "  in the end 2 lives and has heard 2\n");
}

TEST(Explorer, finds_a_run_without_end) {
  auto echoing = tellers(2);
  for (Teller& teller : echoing) teller.echoes = true;
  const Exploration found = Explorer<Teller>(echoing, anything_goes, {}).run();
  EXPECT_EQ(found.violation, "Termination: a run goes round in a circle");
}

TEST(Explorer, tells_every_living_process_of_a_death_once) {
  ExplorationLimits limits;
  limits.deaths = 1;
  const Exploration found =
      Explorer<Teller>(
          tellers(3),
          [](const Situation<Teller>& now) -> std::optional<std::string> {
            for (std::size_t p = 0; p < 3; ++p) {
              if (now.at_rest && now.living != 7 && now.lives(p) && !now.nodes[p]->knows_of_death) {
                return "a death went unnoticed";
              }
              if (now.living == 7 && now.nodes[p]->knows_of_death) return "a false alarm";
            }
            return std::nullopt;
          },
          limits)
          .run();
  EXPECT_EQ(found.violation, "");
  EXPECT_TRUE(found.complete);
}

TEST(Explorer, says_when_it_has_not_seen_everything) {
  ExplorationLimits limits;
  limits.states = 3;
  EXPECT_FALSE(Explorer<Teller>(tellers(3), anything_goes, limits).run().complete);
  EXPECT_THROW(Explorer<Teller>(tellers(7), anything_goes, {}), std::invalid_argument);
}

}  // namespace
}  // namespace mend::transport
