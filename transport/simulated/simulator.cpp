#include "transport/simulated/simulator.hpp"

#include "transport/simulated/fingerprint.hpp"

namespace mend::transport {

std::uint64_t scramble(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  Fingerprint print;
  print.add(seed);
  print.add(a);
  print.add(b);
  return print.low();
}

SimulatedNetwork::SimulatedNetwork(std::uint32_t processes, const NetworkModel& model, std::uint64_t seed)
    : model_(model), seed_(seed), busy_until_(processes, SimulatedTime{0}) {}

const LinkModel& SimulatedNetwork::link(ProcessId from, ProcessId to) const {
  const bool same_node = from.value / model_.processes_per_node == to.value / model_.processes_per_node;
  return same_node ? model_.within_node : model_.between_nodes;
}

SimulatedTime SimulatedNetwork::take_turn(ProcessId process, SimulatedTime arrived, SimulatedTime overhead) {
  SimulatedTime& busy = busy_until_[process.value];
  busy = std::max(busy, arrived) + overhead;
  return busy;
}

SimulatedNetwork::Trip SimulatedNetwork::send(ProcessId from, ProcessId to, ByteCount bytes) {
  const LinkModel& way = link(from, to);
  const SimulatedTime size_cost{static_cast<std::int64_t>(way.per_byte * static_cast<double>(bytes))};
  SimulatedTime& busy = busy_until_[from.value];
  busy += way.overhead + size_cost;
  Trip trip{busy, busy + way.latency};
  if (model_.jitter.count() > 0) {
    const auto most = static_cast<std::uint64_t>(model_.jitter.count());
    trip.arrives += SimulatedTime{static_cast<std::int64_t>(scramble(seed_, ++sent_) % (most + 1))};
    SimulatedTime& last = last_arrival_[std::uint64_t{from.value} << 32U | to.value];
    trip.arrives = last = std::max(trip.arrives, last);
  }
  return trip;
}

void SimulatedNetwork::kill(ProcessId process, SimulatedTime at) { died_.emplace(process, at); }

bool SimulatedNetwork::lives_at(ProcessId process, SimulatedTime time) const {
  if (died_.empty()) return true;
  const auto death = died_.find(process);
  return death == died_.end() || time < death->second;
}

SimulatedTime SimulatedNetwork::notices_at(ProcessId observer, ProcessId dead) const {
  const auto spread = static_cast<std::uint64_t>((model_.detection_most - model_.detection_least).count());
  const std::uint64_t chance = scramble(seed_, (std::uint64_t{observer.value} << 32U) | dead.value, 1);
  return died_.at(dead) + model_.detection_least + SimulatedTime{static_cast<std::int64_t>(chance % (spread + 1))};
}

}  // namespace mend::transport
