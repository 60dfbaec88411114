#include "store/placement/placement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace mend {
namespace {

/// Returns the ranks, ordered by node.
std::vector<std::size_t> line_up(std::span<const NodeId> nodes) {
  std::vector<std::size_t> line(nodes.size());
  std::iota(line.begin(), line.end(), 0);
  std::stable_sort(line.begin(), line.end(), [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
  return line;
}

std::size_t largest_node(std::span<const NodeId> nodes) {
  std::map<NodeId, std::size_t> counts;
  std::size_t largest = 0;
  for (NodeId node : nodes) largest = std::max(largest, ++counts[node]);
  return largest;
}

/// Chooses the ranks that hold the copies of each rank's snapshot.
class CopyHolders {
 public:
  explicit CopyHolders(std::span<const NodeId> nodes)
      : nodes_(nodes), line_(line_up(nodes)), load_(nodes.size(), 0), holders_(nodes.size()) {
    const std::size_t largest = largest_node(nodes);
    shift_ = largest == nodes.size() ? 1 : largest;
  }

  /// Gives every rank one more holder. The candidate is as many places further on in the line as the largest node has
  /// ranks, so it is on another node unless one node has more than half of all ranks. If the candidate is not among the
  /// safest, the rank among the safest that holds the fewest copies is chosen.
  void add_round(std::size_t round) {
    std::vector<std::size_t> unplaced;
    for (std::size_t i = 0; i < line_.size(); ++i) {
      const std::size_t owner = line_[i];
      const std::size_t candidate = line_[(i + round * shift_) % line_.size()];
      if (is_candidate(owner, candidate) && is_safest(owner, candidate)) {
        choose(owner, candidate);
      } else {
        unplaced.push_back(owner);
      }
    }
    for (const std::size_t owner : unplaced) choose(owner, safest(owner));
  }

  const std::vector<std::vector<Rank>>& holders() const { return holders_; }

 private:
  bool is_candidate(std::size_t owner, std::size_t candidate) const {
    const auto& taken = holders_[owner];
    return candidate != owner &&
           std::find(taken.begin(), taken.end(), Rank{static_cast<int>(candidate)}) == taken.end();
  }

  /// Returns what would be lost together with the candidate's node: 2, the snapshot and this copy; 1, this copy and
  /// another one; 0, neither.
  int danger(std::size_t owner, std::size_t candidate) const {
    if (nodes_[owner] == nodes_[candidate]) return 2;
    const auto& taken = holders_[owner];
    return std::any_of(taken.begin(), taken.end(),
                       [&](Rank holder) { return nodes_[static_cast<std::size_t>(holder.value)] == nodes_[candidate]; })
               ? 1
               : 0;
  }

  std::size_t safest(std::size_t owner) const {
    std::optional<std::size_t> best;
    const auto key = [&](std::size_t candidate) { return std::tuple(danger(owner, candidate), load_[candidate]); };
    for (std::size_t candidate = 0; candidate < nodes_.size(); ++candidate) {
      if (is_candidate(owner, candidate) && (!best || key(candidate) < key(*best))) best = candidate;
    }
    return *best;
  }
  bool is_safest(std::size_t owner, std::size_t candidate) const {
    const int dangers = danger(owner, candidate);
    return dangers == 0 || dangers == danger(owner, safest(owner));
  }

  void choose(std::size_t owner, std::size_t holder) {
    holders_[owner].push_back(Rank{static_cast<int>(holder)});
    ++load_[holder];
  }

  std::span<const NodeId> nodes_;
  std::vector<std::size_t> line_;
  std::size_t shift_ = 1;
  std::vector<int> load_;
  std::vector<std::vector<Rank>> holders_;
};

std::vector<Stripe> place_copies(int copies, std::span<const NodeId> nodes) {
  CopyHolders chosen(nodes);
  const auto possible = std::min(static_cast<std::size_t>(copies), nodes.size() - 1);
  for (std::size_t round = 1; round <= possible; ++round) chosen.add_round(round);
  std::vector<Stripe> stripes;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    stripes.push_back({{Rank{static_cast<int>(rank)}}, chosen.holders()[rank]});
  }
  return stripes;
}

/// Deals the ranks of one node after another to the groups in turn, so the ranks of a node are in different groups as
/// long as there are enough groups.
std::vector<std::vector<Rank>> deal(std::size_t group_count, std::span<const NodeId> nodes) {
  std::vector<std::vector<Rank>> groups(group_count);
  const auto line = line_up(nodes);
  for (std::size_t i = 0; i < line.size(); ++i) groups[i % group_count].push_back(Rank{static_cast<int>(line[i])});
  return groups;
}

std::vector<Stripe> place_in_groups(const Redundancy& redundancy, std::span<const NodeId> nodes) {
  std::vector<Stripe> stripes;
  for (const auto& group : deal(nodes.size() / static_cast<std::size_t>(redundancy.data + redundancy.parity), nodes)) {
    const std::size_t holders = static_cast<std::size_t>(redundancy.parity);
    for (std::size_t first = 0; first < group.size(); ++first) {
      Stripe stripe;
      for (std::size_t i = 0; i < group.size(); ++i) {
        (i < holders ? stripe.holders : stripe.owners).push_back(group[(first + i) % group.size()]);
      }
      stripes.push_back(std::move(stripe));
    }
  }
  return stripes;
}

}  // namespace

std::vector<Stripe> place(const Redundancy& redundancy, std::span<const NodeId> nodes) {
  if (nodes.empty()) return {};
  redundancy.require_ranks(static_cast<int>(nodes.size()));
  return redundancy.copies() ? place_copies(redundancy.parity, nodes) : place_in_groups(redundancy, nodes);
}

std::set<Rank> lost_with(const std::set<Rank>& dead, std::span<const Stripe> stripes) {
  std::set<Rank> lost;
  for (const Stripe& stripe : stripes) {
    std::vector<Rank> missing;
    for (Rank owner : stripe.owners) {
      if (dead.contains(owner)) missing.push_back(owner);
    }
    const auto parities = std::count_if(stripe.holders.begin(), stripe.holders.end(),
                                        [&](Rank holder) { return !dead.contains(holder); });
    if (static_cast<std::ptrdiff_t>(missing.size()) > parities) lost.insert(missing.begin(), missing.end());
  }
  return lost;
}

}  // namespace mend
