#include "store/placement.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace mend {
namespace {

std::size_t largest_node(std::span<const NodeId> nodes) {
  std::map<NodeId, std::size_t> counts;
  std::size_t largest = 0;
  for (NodeId node : nodes) largest = std::max(largest, ++counts[node]);
  return largest;
}

}  // namespace

std::vector<std::optional<Rank>> choose_holders(std::span<const NodeId> nodes) {
  const std::size_t size = nodes.size();
  std::vector<std::optional<Rank>> holders(size);
  if (size < 2) return holders;

  // Line the ranks up node by node and let each be held by the one as many places further on as the largest node has
  // ranks: that leaves its own node behind, unless one node holds more than half of all.
  std::vector<std::size_t> line(size);
  std::iota(line.begin(), line.end(), 0);
  std::stable_sort(line.begin(), line.end(), [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
  const std::size_t largest = largest_node(nodes);
  const bool one_node = largest == size;
  const std::size_t shift = one_node ? 1 : largest;
  std::vector<int> load(size, 0);
  std::vector<std::size_t> unplaced;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t owner = line[i];
    const std::size_t holder = line[(i + shift) % size];
    if (!one_node && nodes[owner] == nodes[holder]) {
      unplaced.push_back(owner);
      continue;
    }
    holders[owner] = Rank{static_cast<int>(holder)};
    ++load[holder];
  }
  // What wrapped round onto its own node goes to whoever elsewhere holds least.
  for (std::size_t owner : unplaced) {
    std::optional<std::size_t> best;
    for (std::size_t candidate = 0; candidate < size; ++candidate) {
      if (nodes[candidate] == nodes[owner]) continue;
      if (!best || load[candidate] < load[*best]) best = candidate;
    }
    holders[owner] = Rank{static_cast<int>(*best)};
    ++load[*best];
  }
  return holders;
}

}  // namespace mend
