// Runs of mend's failure detectors, heartbeats and all, in which some processes die.

#pragma once

#include "bench/simulated/ring_outline.hpp"
#include "detector/simulated/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

namespace mend::bench {

inline double in_seconds(Time time) { return std::chrono::duration<double>(time).count(); }

/// T(f) of equation 1, in seconds: the longest time until all processes know of `f` deaths. `tau`: the longest time of
/// a message.
inline double detection_bound(std::uint32_t n, std::uint32_t f, double delta, double tau) {
  return f * (f + 1.0) * delta + f * tau + f * (f + 1.0) / 2 * 8 * tau * std::log2(n);
}

/// `failures` deaths of different processes within `within`; the first at time 0.
inline std::vector<RingOutline::Death> burst(std::uint32_t n, std::uint32_t failures, Time within, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::uint32_t> victims;
  std::vector<Time> times{Time{0}};
  while (victims.size() < failures) victims.insert(static_cast<std::uint32_t>(random() % n));
  while (times.size() < victims.size()) {
    const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(within.count(), 1));
    times.push_back(Time{static_cast<std::int64_t>(random() % span)});
  }
  std::sort(times.begin(), times.end());
  std::vector<std::uint32_t> order(victims.begin(), victims.end());
  std::shuffle(order.begin(), order.end(), random);
  std::vector<RingOutline::Death> deaths;
  for (std::size_t i = 0; i < order.size(); ++i) deaths.push_back({order[i], times[i]});
  return deaths;
}

struct RingRun {
  RingOutline::Outcome outcome;
  std::uint64_t messages = 0;  ///< without heartbeats
  double heartbeats_per_s = 0;
};

/// Runs until all living processes know of all deaths and the ring is closed, and a time-out longer. Throws
/// std::runtime_error if that takes longer than 2 time-outs for each death, or a living process is held dead.
inline RingRun run_ring(std::uint32_t n, const Timing& timing, const transport::NetworkModel& network,
                        const std::vector<RingOutline::Death>& deaths, std::uint64_t seed) {
  detector::SimulationOptions options;
  options.processes = n;
  options.timing = timing;
  options.network = network;
  options.seed = seed;
  options.stagger = timing.eta;
  detector::RingSimulation group(options);
  const Time begin = 3 * timing.eta;
  Time last = begin;
  for (const auto& death : deaths) {
    group.kill({death.process}, begin + death.at);
    last = std::max(last, begin + death.at);
  }
  const Time latest = last + (2 * static_cast<std::int64_t>(deaths.size()) + 1) * timing.delta;
  Time now = last;
  do {
    group.run(now += timing.delta);
  } while (now < latest && group.verdict());
  group.run(now + timing.delta);
  if (const auto wrong = group.verdict()) throw std::runtime_error(*wrong);
  const double seconds = in_seconds(now + timing.delta);
  RingRun run{
      {}, group.messages_sent() - group.heartbeats_sent(), static_cast<double>(group.heartbeats_sent()) / seconds};
  for (const auto& death : deaths) {
    run.outcome.all_known = std::max(run.outcome.all_known, group.known_by_all({death.process}) - begin);
  }
  run.outcome.first_known = group.known_by_all({deaths.front().process}) - begin;
  return run;
}

}  // namespace mend::bench
