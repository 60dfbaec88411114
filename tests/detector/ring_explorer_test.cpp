// Every run of small rings and, for each rule, the shortest run that goes wrong without it, kept in golden/. The counts
// of states are printed. MEND_TEST_LONG=1 also explores the larger systems (minutes).

#include "detector/hypercubes.hpp"
#include "detector/ring_impl.hpp"
#include "tests/support/golden.hpp"
#include "tests/detector/ring_node.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/omitted_rule.hpp"
#include "tests/support/sanitized.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <iostream>

namespace mend::detector {
namespace {

using transport::TimedExploration;
using transport::TimedLimits;

/// Times in ticks.
struct Times {
  int eta;
  int delta;
  std::uint8_t tau;
  bool heartbeats_vary = true;  ///< if false, each takes one tick, and larger systems can be explored
};
constexpr Times usual{2, 4, 2};
constexpr Times punctual{2, 4, 2, false};

struct System {
  std::uint32_t processes;
  std::uint32_t deaths;  ///< how many may die, at any time
  Times times = usual;
  std::uint32_t witnesses = 0;  ///< how many times a process is told of a death by another witness
  Told told = Told::nobody;     ///< the processes that the witness has told too
  // If not 0: the last process joins; all processes enter the second epoch, each in a tick of this range.
  int joins_from = 0;
  int all_there_by = 0;
  bool hears_all = false;  ///< if true, every message shows that its sender lives, and not only heartbeats
};

/// How long a configuration may be unstable, in ticks: R(f) of lemma 1, which is the time to close the ring, and one
/// last broadcast, which takes at most 2 k hops and is not delayed by other broadcasts here.
std::uint32_t bound(const System& system) {
  const std::uint32_t f = system.deaths;
  const auto delta = static_cast<std::uint32_t>(system.times.delta);
  return f * (f + 1) * delta + f * system.times.tau + 2 * dimension(system.processes) * system.times.tau +
         static_cast<std::uint32_t>(system.all_there_by);
}

/// T(f) of equation 1.
double paper_bound(const System& system) {
  const double f = system.deaths;
  const double broadcast = 8 * system.times.tau * std::log2(system.processes);
  return f * (f + 1) * system.times.delta + f * system.times.tau + f * (f + 1) / 2 * broadcast;
}

System hearing_all(System system) {
  system.hears_all = true;
  return system;
}

template <class Rules>
std::vector<RingNode<Rules>> nodes_of(const System& system) {
  const Timing timing{system.times.eta * tick, system.times.delta * tick};
  std::vector<RingNode<Rules>> nodes;
  for (std::uint32_t p = 0; p < system.processes; ++p) {
    RingNode<Rules>& node = nodes.emplace_back(ProcessId{p}, timing, system.told, system.hears_all);
    const bool joins = system.all_there_by > 0;
    const std::uint32_t first = system.processes - (joins ? 1 : 0);
    if (p < first) node.enter({{0}, first, {}});
    if (joins) node.enter_later({{1}, system.processes, {}}, system.joins_from, system.all_there_by);
  }
  return nodes;
}

template <class Rules = AllRules>
TimedExploration explore(const System& system) {
  const std::uint32_t most = bound(system);
  const auto patience = [&](const Message& message) -> std::uint8_t {
    return message.kind == Message::Kind::heartbeat && !system.times.heartbeats_vary ? 1 : system.times.tau;
  };
  const auto begin = std::chrono::steady_clock::now();
  const TimedExploration found =
      transport::TimedExplorer<RingNode<Rules>>(
          nodes_of<Rules>(system), [&](const auto& now) { return broken_promise(now, most); },
          [](const auto& now) { return is_stable(now); }, patience, {system.deaths, system.witnesses})
          .run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << fmt::format(
      "{} processes, up to {} deaths, eta {} delta {} tau {}, {} witnesses{}{}: {} states, {} steps; unstable for {} "
      "ticks at most, T(f) of the paper {:.0f}; {:.1f} s\n",
      system.processes, system.deaths, system.times.eta, system.times.delta, system.times.tau, system.witnesses,
      system.all_there_by > 0 ? ", one joins" : "", system.hears_all ? ", all messages are heard" : "", found.states,
      found.steps, found.longest_unsettled, paper_bound(system), took.count());
  return found;
}

void expect_holds(const System& system, const TimedExploration& found) {
  EXPECT_EQ(found.violation, "") << found.transcript;
  EXPECT_TRUE(found.complete);
  EXPECT_LE(found.longest_unsettled, paper_bound(system) + system.all_there_by);
  if (system.deaths > 0) {
    EXPECT_GE(found.longest_unsettled, static_cast<std::uint32_t>(system.times.delta)) << "no death was ever unknown";
  }
}
void expect_holds(const System& system) { expect_holds(system, explore(system)); }

TimedExploration explore_without(Rule omitted, const System& system) {
  const support::Omission<Rule> omission(omitted);
  return explore<support::RulesButOne<Rule>>(system);
}

/// Without `omitted`, the explorer must find `promise` broken. The shortest run that breaks it is a golden one.
void expect_missed(Rule omitted, const std::string& name, const System& system, const std::string& promise) {
  const TimedExploration found = explore_without(omitted, system);
  const std::string told =
      fmt::format("{} processes, eta {}, delta {}, tau {}, without the rule {}\n{}{}\n", system.processes,
                  system.times.eta, system.times.delta, system.times.tau, name, found.transcript, found.violation);
  std::cout << told;
  EXPECT_EQ(found.violation.substr(0, promise.size()), promise);
  testing::expect_golden("ring_without_" + name, told);
  if (!support::sanitized) expect_holds(system);  // other tests too explore that no promise is broken with all rules
}

// ---- the promises hold

TEST(RingExplorer, suspects_nobody_in_quiet_times) {
  for (std::uint32_t processes : {1U, 2U, 3U, 4U, 5U}) expect_holds({processes, 0});
}

TEST(RingExplorer, holds_when_all_but_one_of_4_die) {
  expect_holds({2, 1});
  expect_holds({3, 2});
  if (!support::sanitized) expect_holds({4, 3});
}

TEST(RingExplorer, holds_when_2_of_5_die) {
  SKIP_IF_SANITIZED();
  expect_holds({5, 2});
}

TEST(RingExplorer, holds_when_1_of_6_dies) {
  SKIP_IF_SANITIZED();
  expect_holds({6, 1});
}

TEST(RingExplorer, holds_when_as_many_die_as_theorem_1_allows) {
  expect_holds({4, deaths_tolerated(4), punctual});
  SKIP_IF_SANITIZED();
  expect_holds({7, deaths_tolerated(7), punctual});
  expect_holds({8, deaths_tolerated(8), {2, 3, 1}});
  expect_holds({8, deaths_tolerated(8), punctual});
}

TEST(RingExplorer, holds_when_time_outs_are_as_short_as_they_may_be_and_heartbeats_frequent) {
  SKIP_IF_SANITIZED();
  expect_holds({4, 2, {1, 3, 2}});
  expect_holds({4, 2, {3, 5, 2}});
  expect_holds({4, 2, {1, 4, 3}});
}

TEST(RingExplorer, holds_when_other_witnesses_are_faster_than_time_outs) {
  SKIP_IF_SANITIZED();
  expect_holds({5, 1, punctual, 2});
  expect_holds({4, 2, usual, 1});
  expect_holds({4, 2, {1, 2, 1}, 4});
}

TEST(RingExplorer, holds_when_the_runtime_tells_and_only_observers_pass_it_on) {
  System system{support::sanitized ? 3U : 4U, 2, usual, 2};
  system.told = Told::everyone;
  expect_holds(system);
}

TEST(RingExplorer, holds_when_a_process_joins_while_another_dies) {
  for (const auto& [earliest, latest] : {std::pair{0, 5}, std::pair{8, 11}}) {
    System system{support::sanitized ? 3U : 4U, 1};
    system.joins_from = earliest;
    system.all_there_by = latest;
    expect_holds(system);
  }
}

TEST(RingExplorer, holds_when_every_message_shows_that_its_sender_lives) {
  expect_holds(hearing_all({3, 2, usual, 2}));
  SKIP_IF_SANITIZED();
  expect_holds(hearing_all({4, 1, {1, 3, 2}, 1}));
  expect_holds(hearing_all({4, 2, {1, 3, 2}}));
  System system{4, 1};
  system.joins_from = 8;
  system.all_there_by = 11;
  expect_holds(hearing_all(system));
}

TEST(RingExplorer, holds_for_larger_systems) {
  if (!support::long_tests()) GTEST_SKIP() << "set MEND_TEST_LONG=1 to explore these too";
  expect_holds({4, 2, usual, 2});
  expect_holds({4, 3, {1, 2, 1}, 9});
  expect_holds({5, 1, usual, 1});
  expect_holds({5, 3});
  expect_holds({6, 2});
  expect_holds({6, 3, punctual});
  expect_holds({8, 2, {2, 3, 1}, 1});
}

// ---- what the explorer finds if a condition is not met

TEST(RingExplorer, sees_false_suspicions_when_delta_is_too_short_for_eta_and_tau) {
  const TimedExploration found = explore({2, 0, {2, 3, 2}});
  EXPECT_EQ(found.violation, "Accuracy: 0 holds 1 dead, which lives") << found.transcript;
}

TEST(RingExplorer, misses_an_observer_that_makes_itself_known) {
  expect_missed(Rule::tell_the_emitter, "tell_the_emitter", {3, 1}, "Accuracy");
}

TEST(RingExplorer, misses_an_emitter_that_turns_to_its_new_observer) {
  expect_missed(Rule::take_new_observer, "take_new_observer", {3, 1}, "Accuracy");
}

TEST(RingExplorer, misses_the_double_time_out_for_a_new_emitter) {
  expect_missed(Rule::double_time_out, "double_time_out", {3, 1, {1, 3, 2}}, "Accuracy");
}

TEST(RingExplorer, misses_that_an_earlier_message_takes_nothing_of_the_double_time_out_away) {
  expect_missed(Rule::keep_double_time_out, "keep_double_time_out", hearing_all({3, 1, {1, 3, 2}, 1}), "Accuracy");
}

TEST(RingExplorer, misses_the_broadcast) { expect_missed(Rule::announce, "announce", {4, 1}, "Completeness"); }

TEST(RingExplorer, misses_those_who_pass_the_broadcast_on) {
  expect_missed(Rule::pass_on, "pass_on", {7, 1, punctual}, "Completeness");
}

TEST(RingExplorer, misses_the_deaths_that_a_source_which_died_had_half_told) {
  expect_missed(Rule::tell_the_list, "tell_the_list", {8, 2, {2, 3, 1}}, "Completeness");
}

TEST(RingExplorer, misses_the_broadcast_of_an_observer_that_was_told_of_its_emitters_death) {
  SKIP_IF_SANITIZED();
  expect_missed(Rule::announce_when_told, "announce_when_told", {8, 2, {1, 2, 1}, 1}, "Completeness");
}

TEST(RingExplorer, misses_that_all_between_an_emitter_and_its_new_observer_are_dead) {
  expect_missed(Rule::believe_the_path, "believe_the_path", {4, 2, {1, 2, 1}, 3}, "Accuracy");
}

TEST(RingExplorer, misses_the_refusal_of_observers_that_are_dead) {
  expect_missed(Rule::refuse_the_dead, "refuse_the_dead", {4, 2, {1, 2, 1}, 3}, "Accuracy");
}

TEST(RingExplorer, misses_that_messages_of_an_older_epoch_are_ignored) {
  System system{4, 1};
  system.joins_from = 8;
  system.all_there_by = 11;
  expect_missed(Rule::one_epoch, "one_epoch", system, "Accuracy");
}

TEST(RingExplorer, misses_that_messages_of_a_later_epoch_are_kept) {
  System system{4, 1};
  system.joins_from = 8;
  system.all_there_by = 11;
  expect_missed(Rule::keep_the_early, "keep_the_early", system, "Accuracy");
}

}  // namespace
}  // namespace mend::detector
