#include "spares/spare_selection.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace mend {
namespace {

std::map<NodeId, int> count_by_node(std::span<const Placed> processes) {
  std::map<NodeId, int> counts;
  for (const Placed& process : processes) ++counts[process.node];
  return counts;
}

/// Chooses the one of `spares` (not empty) that replaces a process that ran on `node`.
std::vector<Placed>::const_iterator choose_spare(const std::vector<Placed>& spares, NodeId node) {
  const auto neighbour =
      std::find_if(spares.begin(), spares.end(), [&](const Placed& spare) { return spare.node == node; });
  if (neighbour != spares.end()) return neighbour;
  const std::map<NodeId, int> left = count_by_node(spares);
  return std::max_element(spares.begin(), spares.end(),
                          [&](const Placed& a, const Placed& b) { return left.at(a.node) < left.at(b.node); });
}

/// Returns how many processes of each node have ranks. These are the first processes of the node.
std::map<NodeId, int> workers_by_node(std::span<const Placed> processes, int ranks, int spare_nodes) {
  std::map<NodeId, int> workers = count_by_node(processes);
  std::map<NodeId, int> spares;
  int left = static_cast<int>(processes.size()) - ranks;
  for (auto node = workers.rbegin(); node != workers.rend() && spare_nodes > 0; ++node, --spare_nodes) {
    const int taken = std::clamp(left, 0, node->second);
    node->second -= taken;
    spares[node->first] = taken;
    left -= taken;
  }
  // Each remaining spare in turn is the last worker of the node that has the fewest spares.
  for (; left > 0; --left) {
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
  return workers;
}

/// The first `ranks` processes of the launch have the ranks of their own numbers. If one of them is missing, the first
/// of the other processes has its rank. If there are too few processes, the last of the ranks without a process stay
/// vacant: vacant ranks have no seat, and the other ranks have the same origins as without vacancies.
RankAssignment plan_by_number(std::span<const Placed> processes, int ranks) {
  const auto is_worker = [&](const Placed& one) { return static_cast<std::int64_t>(one.process.value) < ranks; };
  const auto others = std::ranges::find_if_not(processes, is_worker);
  RankAssignment result;
  result.roster.spares.assign(others, processes.end());
  auto worker = processes.begin();
  for (int number = 0; number < ranks; ++number) {
    const Rank rank{number};
    if (worker != others && static_cast<std::int64_t>(worker->process.value) == number) {
      result.roster.seats.push_back({*worker++, 0, rank});
    } else if (!result.roster.spares.empty()) {
      result.roster.seats.push_back({result.roster.spares.front(), 0, rank});
      result.roster.spares.erase(result.roster.spares.begin());
    } else {
      result.vacant.push_back(rank);
    }
  }
  return result;
}

}  // namespace

RankAssignment first_assignment(std::span<const Placed> processes, int ranks, int spare_nodes,
                                SparePlacement placement) {
  if (placement == SparePlacement::last && spare_nodes == 0) return plan_by_number(processes, ranks);
  std::map<NodeId, int> workers = workers_by_node(processes, ranks, spare_nodes);
  RankAssignment result;
  for (const Placed& process : processes) {
    if (workers[process.node]-- > 0) {
      result.roster.seats.push_back({process, 0, Rank{result.roster.size()}});
    } else {
      result.roster.spares.push_back(process);
    }
  }
  for (int rank = result.roster.size(); rank < ranks; ++rank) result.vacant.push_back(Rank{rank});
  return result;
}

RankAssignment assign_ranks(const Roster& roster, const ProcessSet& dead, const Policy& policy) {
  RankAssignment result;
  std::vector<Placed>& spares = result.roster.spares;
  std::ranges::copy_if(roster.spares, std::back_inserter(spares),
                       [&](const Placed& spare) { return !dead.contains(spare.process); });
  const bool a_rank_lives =
      std::ranges::any_of(roster.seats, [&](const Seat& seat) { return !dead.contains(seat.holder.process); });
  const bool some_take_over = policy.takes_over_ranks();
  const bool some_remain = a_rank_lives || (some_take_over && !spares.empty());
  for (int i = 0; i < roster.size(); ++i) {
    const Rank rank{i};
    Seat seat = roster.seat(rank);
    const ProcessId holder = seat.holder.process;
    if (dead.contains(holder)) {
      if (some_take_over && !spares.empty()) {
        const auto chosen = choose_spare(spares, seat.holder.node);
        result.replacements.push_back({rank, holder, chosen->process});
        seat = {*chosen, seat.predecessors + 1, seat.origin};
        spares.erase(chosen);
      } else if (!policy.spawn && policy.gives_up_ranks() && some_remain) {
        result.given_up.push_back({rank, holder});
        continue;
      } else {
        result.vacant.push_back(rank);
      }
    }
    result.roster.seats.push_back(seat);
  }
  return result;
}

}  // namespace mend
