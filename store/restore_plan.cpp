#include "store/restore_plan.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace mend {
namespace {

using KeepersByOwner = std::map<Rank, std::vector<const Holding*>>;

std::vector<Rank> owners_missing(const KeepersByOwner& keepers, std::size_t size) {
  std::vector<Rank> missing;
  for (int rank = 0; rank < static_cast<int>(size); ++rank) {
    if (!keepers.contains(Rank{rank})) missing.push_back(Rank{rank});
  }
  return missing;
}

/// The keeper to fetch from: the owner itself if it can, else the one that has been asked least so far.
const Holding& choose_source(const std::vector<const Holding*>& keepers, const std::map<Rank, int>& asked) {
  const auto load = [&](Rank rank) {
    const auto at = asked.find(rank);
    return at == asked.end() ? 0 : at->second;
  };
  return **std::min_element(keepers.begin(), keepers.end(), [&](const Holding* a, const Holding* b) {
    const auto key = [&](const Holding* h) { return std::tuple(h->keeper != h->owner, load(h->keeper), h->keeper); };
    return key(a) < key(b);
  });
}

}  // namespace

RestorePlan plan_restore(std::span<const Holding> inventory, std::span<const std::optional<Rank>> holders) {
  std::map<Version, KeepersByOwner, std::greater<>> versions;  // newest first
  for (const Holding& holding : inventory) versions[holding.version][holding.owner].push_back(&holding);

  RestorePlan plan;
  if (versions.empty()) return plan;
  plan.newest_seen = versions.begin()->first;
  const auto complete = std::find_if(versions.begin(), versions.end(), [&](const auto& entry) {
    return owners_missing(entry.second, holders.size()).empty();
  });
  if (complete == versions.end()) {
    plan.missing = owners_missing(versions.begin()->second, holders.size());
    return plan;
  }
  plan.version = complete->first;
  std::map<Rank, int> asked;
  for (const auto& [owner, keepers] : complete->second) {
    const auto has_it = [&](Rank rank) {
      return std::any_of(keepers.begin(), keepers.end(), [&](const Holding* h) { return h->keeper == rank; });
    };
    const auto need = [&](Rank rank) {
      if (has_it(rank)) return;
      const Holding& source = choose_source(keepers, asked);
      plan.transfers.push_back({source.keeper, rank, owner, source.size});
      ++asked[source.keeper];
    };
    need(owner);
    if (const auto holder = holders[static_cast<std::size_t>(owner.value)]) need(*holder);
  }
  return plan;
}

}  // namespace mend
