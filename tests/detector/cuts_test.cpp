// Detectors on machines whose network is cut, temporarily or permanently, while processes are killed and stopped.
//
// A run is determined by its seed. MEND_SEED=n runs that one alone; MEND_SEEDS=n runs n of them.

#include "detector/detector.hpp"
#include "detector/wire.hpp"
#include "tests/support/seeds.hpp"
#include "transport/simulated/simulator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace mend::detector {
namespace {

using namespace std::chrono_literals;

constexpr Timing heartbeats{100ms, 1s};
constexpr Time long_enough = 60s;  // for everything to settle

/// From `begin` to `end` no message passes between `side` and the others. Messages under way arrive later: when the
/// network is whole again, the kernel tries again within `retry`.
struct Cut {
  std::uint32_t side = 0;  // machines, bit by bit
  Time begin{0};
  Time end{0};
  static constexpr Time retry = heartbeats.delta / 8 + heartbeats.eta;

  bool parts(NodeId a, NodeId b) const { return (side >> a.value & 1U) != (side >> b.value & 1U); }
};

struct Scenario {
  std::uint64_t seed = 1;
  std::uint32_t machines = 3;
  std::uint32_t on_each = 2;
  std::vector<Cut> cuts;
  std::uint32_t processes() const { return machines * on_each; }
  NodeId node(ProcessId process) const { return {process.value / on_each}; }
};

class CutNetwork {
 public:
  explicit CutNetwork(const Scenario& scenario)
      : scenario_(scenario),
        simulator_(scenario.processes(), network(scenario), scenario.seed, *this),
        armed_(scenario.processes(), never) {
    std::vector<NodeId> nodes;
    for (std::uint32_t p = 0; p < scenario.processes(); ++p) nodes.push_back(scenario.node({p}));
    for (std::uint32_t p = 0; p < scenario.processes(); ++p) {
      detectors_.emplace_back(ProcessId{p}, heartbeats);
      Actions actions;
      detectors_[p].enter({{1}, scenario.processes(), {}}, nodes, Time{0}, actions);
      arm({p});
    }
  }

  void kill(ProcessId process, Time at) {
    if (tells_)
      std::cout << fmt::format("{} dies at {:.3f} s\n", process.value, std::chrono::duration<double>(at).count());
    simulator_.kill(process, at);
    Time& gone = gone_.try_emplace(process, at).first->second;
    gone = std::min(gone, at);
  }
  /// The process does not run from `at` for `duration`.
  void stop(ProcessId process, Time at, Time duration) {
    stops_[process] = {at, duration};
    simulator_.wake(process, at);
  }
  void run(Time end) { simulator_.run(end); }

  bool lives(ProcessId process) const {
    const auto gone = gone_.find(process);
    return gone == gone_.end() || gone->second > simulator_.clock();
  }
  std::size_t living() const {
    std::size_t count = 0;
    for (std::uint32_t p = 0; p < scenario_.processes(); ++p) count += lives({p}) ? 1 : 0;
    return count;
  }
  Time last_end() const {
    Time last{0};
    for (const auto& [process, at] : gone_) last = std::max(last, at);
    return last;
  }

  /// Returns what is wrong in the end: a living process must know of every death, and hold no living process dead.
  std::string disagreement() const {
    for (std::uint32_t p = 0; p < scenario_.processes(); ++p) {
      for (std::uint32_t q = 0; q < scenario_.processes() && lives({p}); ++q) {
        const bool held_dead = detectors_[p].known_dead().contains(ProcessId{q});
        if (lives({q}) && held_dead) return fmt::format("{} holds {} dead, which lives", p, q);
        if (!lives({q}) && !held_dead) return fmt::format("{} does not know that {} is dead", p, q);
      }
    }
    return "";
  }

  // The calls of the simulator.
  ByteCount size_of(const Message& message) const { return wire_size(message); }
  void dead(ProcessId, ProcessId) {}

  void receive(ProcessId to, ProcessId from, const Message& message) {
    const Time now = simulator_.now(to);
    Time arrives = now;
    for (const Cut& cut : scenario_.cuts) {
      const bool in_the_way = now >= cut.begin && now < cut.end && cut.parts(scenario_.node(from), scenario_.node(to));
      if (!in_the_way) continue;
      if (cut.end > long_enough) return;
      const auto chance = transport::scramble(scenario_.seed, ++held_messages_, from.value);
      arrives = cut.end + Time{static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(Cut::retry.count()))};
    }
    Time& last = last_arrival_[{from, to}];  // messages do not overtake each other
    last = arrives = std::max(arrives, last);
    if (arrives > now) {
      held_[to].emplace(arrives, std::pair(from, message));
      return simulator_.wake(to, arrives);
    }
    step(to, [&](Detector& detector, Actions& actions) { detector.receive(from, message, now, actions); });
  }

  void wake(ProcessId process) {
    const Time now = simulator_.now(process);
    if (now > simulator_.clock()) return simulator_.wake(process, now);  // it could not run: its messages come first
    if (const auto stop = stops_.find(process); stop != stops_.end() && stop->second.first <= now) {
      simulator_.compute(process, stop->second.second);
      stops_.erase(stop);
      return simulator_.wake(process, simulator_.now(process));
    }
    auto& held = held_[process];
    while (!held.empty() && held.begin()->first <= now) {
      const auto [from, message] = held.extract(held.begin()).mapped();
      step(process, [&, &from = from, &message = message](Detector& detector, Actions& actions) {
        detector.receive(from, message, now, actions);
      });
      if (!lives(process)) return;
    }
    if (armed_[process.value] <= now) armed_[process.value] = never;
    const auto deadline = detectors_[process.value].next_deadline();
    if (deadline && *deadline <= now) {
      step(process, [&](Detector& detector, Actions& actions) { detector.tick(now, actions); });
    } else {
      arm(process);
    }
  }

 private:
  static transport::NetworkModel network(const Scenario& scenario) {
    transport::NetworkModel model;
    model.processes_per_node = scenario.on_each;
    model.between_nodes.latency = 100us;
    model.jitter = 2ms;
    model.tells_of_deaths = false;
    return model;
  }

  template <class Step>
  void step(ProcessId process, Step step) {
    if (!lives(process)) return;
    Actions actions;
    step(detectors_[process.value], actions);
    tell(process, actions);
    for (Actions::Send& send : actions.sends) simulator_.send(process, send.to, std::move(send.message));
    for (const ProcessId held_dead : actions.died.members()) {
      const bool here = scenario_.node(held_dead) == scenario_.node(process);
      if (here && lives(held_dead)) kill(held_dead, simulator_.clock());
    }
    if (actions.fenced || actions.cut_off) return kill(process, simulator_.clock());
    arm(process);
  }

  /// Prints the events of the one run that was requested, without heartbeats.
  void tell(ProcessId process, const Actions& actions) {
    if (!tells_) return;
    const auto line = [&](const std::string& what) {
      std::cout << fmt::format("{:9.3f} s  {} {}\n", std::chrono::duration<double>(simulator_.clock()).count(),
                               process.value, what);
    };
    for (const Actions::Send& send : actions.sends) {
      if (send.message.kind != Message::Kind::heartbeat)
        line(fmt::format("sends {} to {}", to_string(send.message), send.to.value));
    }
    if (!actions.died.empty()) line(fmt::format("holds {} dead", actions.died.to_string()));
    if (actions.fenced) line("is fenced");
    if (actions.cut_off) line("is cut off");
  }

  void arm(ProcessId process) {
    const auto deadline = detectors_[process.value].next_deadline();
    if (!deadline || *deadline >= armed_[process.value]) return;
    armed_[process.value] = *deadline;
    simulator_.wake(process, *deadline);
  }

  Scenario scenario_;
  transport::Simulator<Message, CutNetwork> simulator_;
  std::vector<Detector> detectors_;
  std::vector<Time> armed_;  // by process: when it is woken next
  std::map<ProcessId, std::pair<Time, Time>> stops_;
  std::map<ProcessId, std::multimap<Time, std::pair<ProcessId, Message>>> held_;
  std::map<std::pair<ProcessId, ProcessId>, Time> last_arrival_;
  std::map<ProcessId, Time> gone_;
  std::uint64_t held_messages_ = 0;
  bool tells_ = std::getenv("MEND_SEED") != nullptr;
};

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  std::uint32_t upto(std::uint64_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  Time between(Time least, Time most) {
    return least + Time{static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>((most - least).count()))};
  }
  Scenario scenario(std::uint64_t seed) {
    Scenario scenario;
    scenario.seed = seed;
    scenario.machines = 2 + upto(4);
    scenario.on_each = 1 + upto(4);
    return scenario;
  }
  Cut cut(const Scenario& scenario, Time least, Time most) {
    const Time begin = between(5s, 6s);
    return {1 + upto((1U << scenario.machines) - 2), begin, begin + between(least, most)};
  }

 private:
  std::mt19937_64 random_;
};

/// Returns true if `process` is on the side of a cut that survives.
bool is_on_the_greater_side(const Scenario& scenario, const Cut& cut, ProcessId process) {
  std::uint32_t inside = 0;
  for (std::uint32_t m = 0; m < scenario.machines; ++m) inside += cut.side >> m & 1U;
  const std::uint32_t outside = scenario.machines - inside;
  const bool lowest_is_inside = (cut.side & 1U) != 0;
  const bool inside_goes_on = inside != outside ? inside > outside : lowest_is_inside;
  return cut.parts(scenario.node(process), {31}) == inside_goes_on;
}

template <class Run>
void for_each_seed(int many, Run run) {
  const support::Seeds seeds = support::seeds(many, 5);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    run(seed);
    if (::testing::Test::HasFailure()) FAIL() << support::to_see_again(seed);
  }
}

TEST(Cuts, shorter_than_the_time_out_cost_nobody) {
  for_each_seed(300, [](std::uint64_t seed) {
    Chance chance(seed);
    Scenario scenario = chance.scenario(seed);
    // The last heartbeat came up to eta before the cut, and the next one comes when the kernel has tried again.
    scenario.cuts.push_back(chance.cut(scenario, 1ms, heartbeats.delta - heartbeats.eta - Cut::retry - 10ms));
    CutNetwork network(scenario);
    network.run(long_enough);
    EXPECT_EQ(network.living(), scenario.processes());
    EXPECT_EQ(network.disagreement(), "");
  });
}

TEST(Cuts, of_any_length_cost_nobody_of_the_greater_half) {
  for_each_seed(300, [](std::uint64_t seed) {
    Chance chance(seed);
    Scenario scenario = chance.scenario(seed);
    scenario.cuts.push_back(chance.cut(scenario, 500ms, 6s));
    CutNetwork network(scenario);
    network.run(long_enough);
    for (std::uint32_t p = 0; p < scenario.processes(); ++p) {
      const bool goes_on = is_on_the_greater_side(scenario, scenario.cuts.front(), {p});
      EXPECT_TRUE(network.lives({p}) || !goes_on) << p;
    }
    EXPECT_EQ(network.disagreement(), "");
  });
}

TEST(Cuts, for_good_end_the_smaller_half_and_nobody_else) {
  Time longest{0};
  for_each_seed(300, [&](std::uint64_t seed) {
    Chance chance(seed);
    Scenario scenario = chance.scenario(seed);
    scenario.cuts.push_back(chance.cut(scenario, 500ms, 6s));
    scenario.cuts.front().end = Time::max();
    CutNetwork network(scenario);
    network.run(long_enough);
    for (std::uint32_t p = 0; p < scenario.processes(); ++p) {
      EXPECT_EQ(network.lives({p}), is_on_the_greater_side(scenario, scenario.cuts.front(), {p})) << p;
    }
    EXPECT_EQ(network.disagreement(), "");
    longest = std::max(longest, network.last_end() - scenario.cuts.front().begin);
  });
  std::cout << fmt::format("the smaller half was gone after {:.1f} delta at the latest\n",
                           std::chrono::duration<double>(longest) / heartbeats.delta);
}

TEST(Cuts, and_kills_and_stops_leave_those_that_live_of_one_mind) {
  std::uint64_t lived = 0;
  for_each_seed(1000, [&](std::uint64_t seed) {
    Chance chance(seed);
    Scenario scenario = chance.scenario(seed);
    for (std::uint32_t i = 1 + chance.upto(3); i > 0; --i) scenario.cuts.push_back(chance.cut(scenario, 200ms, 4s));
    CutNetwork network(scenario);
    for (std::uint32_t i = chance.upto(3); i > 0; --i) {
      network.kill({chance.upto(scenario.processes())}, chance.between(4s, 8s));
    }
    for (std::uint32_t i = chance.upto(3); i > 0; --i) {
      network.stop({chance.upto(scenario.processes())}, chance.between(4s, 8s), chance.between(100ms, 5s));
    }
    network.run(long_enough);
    EXPECT_EQ(network.disagreement(), "");
    lived += network.living() > 0 ? 1 : 0;
  });
  EXPECT_GT(lived, 0U);
}

TEST(Cuts, are_told_from_the_loss_of_a_machine_which_is_known_after_one_and_a_half_delta) {
  for_each_seed(100, [](std::uint64_t seed) {
    Chance chance(seed);
    Scenario scenario = chance.scenario(seed);
    scenario.machines = std::max(3U, scenario.machines);
    const std::uint32_t lost = chance.upto(scenario.machines);
    CutNetwork network(scenario);
    const Time at = chance.between(5s, 6s);
    for (std::uint32_t i = 0; i < scenario.on_each; ++i) network.kill({lost * scenario.on_each + i}, at);
    network.run(at + 3 * heartbeats.delta / 2 + 50ms);
    EXPECT_EQ(network.living(), scenario.processes() - scenario.on_each);
    EXPECT_EQ(network.disagreement(), "");
  });
}

}  // namespace
}  // namespace mend::detector
