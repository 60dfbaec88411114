// Short notations for jobs: which process runs on which node.

#pragma once

#include "spares/spare_selection.hpp"

#include <random>
#include <vector>

namespace machines {

inline mend::Placed placed(std::uint32_t process, std::uint32_t node) {
  return {mend::ProcessId{process}, mend::NodeId{node}};
}

/// Process i runs on nodes[i].
inline std::vector<mend::Placed> processes_on(const std::vector<std::uint32_t>& nodes) {
  std::vector<mend::Placed> processes;
  for (std::uint32_t node : nodes) processes.push_back(placed(static_cast<std::uint32_t>(processes.size()), node));
  return processes;
}

inline std::vector<std::uint32_t> random_nodes(std::mt19937& random, std::size_t processes) {
  const auto node_count = std::uniform_int_distribution<std::uint32_t>(1, 5)(random);
  std::vector<std::uint32_t> nodes(processes);
  for (std::uint32_t& node : nodes) node = std::uniform_int_distribution<std::uint32_t>(0, node_count - 1)(random);
  return nodes;
}

inline std::vector<std::uint32_t> numbers(const std::vector<mend::Placed>& processes) {
  std::vector<std::uint32_t> list;
  for (const mend::Placed& process : processes) list.push_back(process.process.value);
  return list;
}

/// The processes that hold the ranks, by rank.
inline std::vector<std::uint32_t> workers(const mend::Roster& roster) {
  std::vector<std::uint32_t> list;
  for (const mend::Seat& seat : roster.seats) list.push_back(seat.holder.process.value);
  return list;
}

}  // namespace machines
