#include "spares/roster.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace mend {
namespace {

std::map<NodeId, int> count_by_node(std::span<const Placed> processes) {
  std::map<NodeId, int> counts;
  for (const Placed& process : processes) ++counts[process.node];
  return counts;
}

/// Which of `spares` (not empty) shall replace a process that ran on `node`.
std::vector<Placed>::const_iterator choose(const std::vector<Placed>& spares, NodeId node) {
  const auto neighbour = std::find_if(spares.begin(), spares.end(), [&](const Placed& spare) { return spare.node == node; });
  if (neighbour != spares.end()) return neighbour;
  const std::map<NodeId, int> left = count_by_node(spares);
  return std::max_element(spares.begin(), spares.end(), [&](const Placed& a, const Placed& b) {
    return left.at(a.node) < left.at(b.node);
  });
}

}  // namespace

std::optional<Rank> Roster::rank_of(ProcessId process) const {
  const auto at = std::find_if(seats.begin(), seats.end(), [&](const Seat& seat) { return seat.holder.process == process; });
  if (at == seats.end()) return std::nullopt;
  return Rank{static_cast<int>(at - seats.begin())};
}

Roster first_roster(std::span<const Placed> processes, int spare_count) {
  const int total = static_cast<int>(processes.size());
  if (spare_count < 0 || spare_count >= total) {
    throw UsageError(fmt::format(
        "{} spares of {} processes leave nobody to work: launch more processes or ask for fewer spares", spare_count, total));
  }
  // Give each spare in turn to the node that has fewest spares for its size, taking its last worker.
  std::map<NodeId, int> workers = count_by_node(processes);
  std::map<NodeId, int> spares;
  for (int i = 0; i < spare_count; ++i) {
    const auto node = std::min_element(workers.begin(), workers.end(), [&](const auto& a, const auto& b) {
      // An emptied node comes last; then fewest spares first; then most workers; then the later node.
      const auto key = [&](const auto& entry) {
        return std::tuple(entry.second == 0, spares[entry.first], -entry.second, -std::int64_t{entry.first.value});
      };
      return key(a) < key(b);
    });
    --node->second;
    ++spares[node->first];
  }
  Roster roster;
  for (const Placed& process : processes) {
    if (workers[process.node]-- > 0) {
      roster.seats.push_back({process, 0});
    } else {
      roster.spares.push_back(process);
    }
  }
  return roster;
}

Plan plan(const Roster& roster, const ProcessSet& dead) {
  Plan result{roster, {}, {}};
  std::vector<Placed>& spares = result.roster.spares;
  std::erase_if(spares, [&](const Placed& spare) { return dead.contains(spare.process); });
  for (int i = 0; i < roster.size(); ++i) {
    const Rank rank{i};
    Seat& seat = result.roster.seats[static_cast<std::size_t>(i)];
    if (!dead.contains(seat.holder.process)) continue;
    if (spares.empty()) {
      result.vacant.push_back(rank);
      continue;
    }
    const auto chosen = choose(spares, seat.holder.node);
    result.changes.push_back({rank, seat.holder.process, chosen->process});
    seat = {*chosen, seat.predecessors + 1};
    spares.erase(chosen);
  }
  return result;
}

}  // namespace mend
