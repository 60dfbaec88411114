// The ring without its heartbeats, for 256,000 processes and thousands of runs: the same simplification as in the
// paper's own simulator. Heartbeats are not sent; when a process dies, its observer's time-out is set to the time it
// would have had. A broadcast takes a given time. Deaths in the middle of a broadcast are not modelled.
//
// mend simulate detector prints it beside the real cores where both can be run.

#pragma once

#include "detector/ring.hpp"
#include "transport/simulated/simulator.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace mend::bench {

using detector::Time;
using detector::Timing;

class RingOutline {
 public:
  struct Death {
    std::uint32_t process;
    Time at;
  };
  struct Outcome {
    Time first_known{0};  ///< by all processes
    Time all_known{0};    ///< all deaths, by all processes
  };

  /// `tau`: the longest time of a message. `broadcast`: the time in which a broadcast reaches all processes.
  RingOutline(std::uint32_t processes, const Timing& timing, Time tau, Time broadcast, std::uint64_t seed)
      : processes_(processes), timing_(timing), tau_(tau), broadcast_(broadcast), seed_(seed) {}

  /// Returns the outcome of these deaths, which must be in ascending order of time.
  Outcome run(const std::vector<Death>& deaths) {
    for (const Death& death : deaths) {
      dies_at_[death.process] = death.at;
      push({death.at, What::dies, death.process, 0});
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      take(event);
    }
    Outcome outcome;
    for (const Death& death : deaths) outcome.all_known = std::max(outcome.all_known, known_.at(death.process));
    outcome.first_known = known_.at(deaths.front().process);
    return outcome;
  }

 private:
  enum class What : std::uint8_t { dies, suspected, told };
  struct Event {
    Time at;
    What what;
    std::uint32_t emitter;
    std::uint32_t observer;
    bool operator>(const Event& other) const { return at > other.at; }
  };

  void push(Event event) { events_.push(event); }

  void take(const Event& event) {
    const std::uint32_t observer = event.what == What::suspected ? event.observer : observer_of(event.emitter);
    if (!lives(observer, event.at)) return;  // the process that observes it will come to observe `emitter`
    switch (event.what) {
      case What::dies: push({time_out(event), What::suspected, event.emitter, observer}); break;
      case What::told:
      case What::suspected:
        if (passed_.insert({event.emitter, observer}).second) pass_over(event.emitter, observer, event.at);
    }
  }

  /// The last heartbeat was sent at some time in the last period; delta runs from its arrival.
  Time time_out(const Event& death) const {
    return death.at - chance(death.emitter, 0, timing_.eta) + chance(death.emitter, 1, tau_) + timing_.delta;
  }

  void pass_over(std::uint32_t emitter, std::uint32_t observer, Time now) {
    const Time known = now + broadcast_;
    const auto [at, first] = known_.emplace(emitter, known);
    if (first) push({known, What::told, emitter, observer});
    do {
      emitter = (emitter + processes_ - 1) % processes_;
    } while (known_.contains(emitter) && known_.at(emitter) <= now);
    observers_[emitter] = observer;
    if (!lives(emitter, now)) push({now + 2 * timing_.delta, What::suspected, emitter, observer});
  }

  std::uint32_t observer_of(std::uint32_t process) const {
    const auto moved = observers_.find(process);
    return moved != observers_.end() ? moved->second : (process + 1) % processes_;
  }

  bool lives(std::uint32_t process, Time now) const {
    const auto death = dies_at_.find(process);
    return death == dies_at_.end() || now < death->second;
  }

  Time chance(std::uint32_t process, std::uint64_t which, Time most) const {
    const auto span = static_cast<std::uint64_t>(most.count()) + 1;
    return Time{static_cast<std::int64_t>(transport::scramble(seed_, process, which) % span)};
  }

  std::uint32_t processes_;
  Timing timing_;
  Time tau_;
  Time broadcast_;
  std::uint64_t seed_;
  std::map<std::uint32_t, Time> dies_at_;
  std::map<std::uint32_t, Time> known_;  // by all processes
  std::map<std::uint32_t, std::uint32_t> observers_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> passed_;  // emitter, observer
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace mend::bench
