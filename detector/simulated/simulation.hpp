// A ring of detectors in the simulator. Some of them die, and the knowledge of the others is checked. For tests and
// benchmarks.

#pragma once

#include "detector/ring.hpp"
#include "transport/simulated/simulator.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mend::detector {

struct SimulationOptions {
  std::uint32_t processes = 4;
  Timing timing{std::chrono::microseconds(200), std::chrono::microseconds(1000)};
  transport::NetworkModel network;  ///< its setting for reports of deaths is ignored: there are none
  std::uint64_t seed = 1;
  std::uint32_t joining = 0;  ///< how many processes, the last ones, are in no ring before they enter an epoch
  Time stagger{0};            ///< each enters the ring at a random moment before this
  /// How many of a hundred suspicions kill the suspecting process, at some moment among the sends that announce them.
  std::uint32_t fatal_suspicions = 0;
  std::uint32_t most_deaths = 0;  ///< the number of deaths up to which suspicions are fatal
  bool keep_transcript = false;
};

class RingSimulation {
 public:
  explicit RingSimulation(const SimulationOptions& options);

  void kill(ProcessId process, Time at);
  /// Another witness reports a death to `told`.
  void witness(ProcessId told, ProcessId dead, Time at);
  /// `process` enters an epoch.
  void enter(ProcessId process, const Membership& membership, Time at);
  /// Runs until `end`.
  void run(Time end);

  /// Returns what is wrong at the end of the run, if anything: a living process is considered dead, a death is not
  /// known to all living processes, or the ring is not closed.
  std::optional<std::string> verdict() const;

  bool lives(ProcessId process) const { return !deaths_.contains(process); }
  std::size_t deaths() const { return deaths_.size(); }
  Time first_death() const;
  /// Returns when the last living process learnt of this death.
  Time known_by_all(ProcessId dead) const;
  /// Returns when a process last learnt of a death, or changed its emitter or observer.
  Time stable_since() const { return last_change_; }
  std::uint64_t heartbeats_sent() const { return heartbeats_; }
  std::uint64_t messages_sent() const { return simulator_.messages_sent(); }
  const Ring& ring(ProcessId process) const { return rings_[process.value]; }
  /// Returns one line for each event except heartbeats: time, process, event.
  std::string transcript() const;

  // The calls of the simulator.
  void receive(ProcessId to, ProcessId from, const Message& message);
  void dead(ProcessId to, ProcessId gone);
  void wake(ProcessId process);
  ByteCount size_of(const Message& message) const;

 private:
  using Step = std::function<void(Ring&, Time, Actions&)>;
  struct Planned {
    Time at;
    Step step;
  };

  void plan(ProcessId process, Time at, Step step);
  void take(ProcessId process, const std::string& what, const Step& step);
  void strike(ProcessId process, Time before);
  void arm(ProcessId process);
  std::uint32_t closest_living(std::uint32_t process, std::uint32_t step) const;
  void tell(Time at, ProcessId process, const std::string& what);

  SimulationOptions options_;
  transport::Simulator<Message, RingSimulation> simulator_;
  std::vector<Ring> rings_;
  std::vector<Time> armed_;  // by process: when it is woken next
  std::map<ProcessId, std::vector<Planned>> planned_;
  std::map<ProcessId, Time> deaths_;
  std::map<ProcessId, std::vector<Time>> learnt_;  // by the dead process, by the process that learns
  Actions actions_;
  Time last_change_{0};
  std::uint64_t heartbeats_ = 0;
  std::vector<std::pair<Time, std::string>> told_;  // the transcript's lines, in the order of the calls
};

}  // namespace mend::detector
