#include "replay/clusters/clusters.hpp"

#include "base/ids.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace mend::replay {
namespace {

using Pair = std::pair<int, int>;  // of clusters, the lower first

/// Returns the number of bytes that each pair of clusters send each other.
std::map<Pair, std::uint64_t> between(const Clusters& clusters, const TrafficMatrix& traffic) {
  std::map<Pair, std::uint64_t> sums;
  const std::size_t ranks = clusters.size();
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const std::uint64_t bytes = traffic[from * ranks + to];
      if (bytes != 0 && clusters[from] != clusters[to]) sums[std::minmax(clusters[from], clusters[to])] += bytes;
    }
  }
  return sums;
}

/// Merges disjoint pairs of clusters, those that send each other most first. Returns false if no pair fits.
bool merge_pairs(Clusters& clusters, const TrafficMatrix& traffic, int most) {
  std::map<int, int> sizes;
  for (const int one : clusters) ++sizes[one];
  std::vector<std::pair<Pair, std::uint64_t>> pairs;
  for (const auto& [pair, bytes] : between(clusters, traffic))
    if (sizes[pair.first] + sizes[pair.second] <= most) pairs.emplace_back(pair, bytes);
  std::ranges::stable_sort(pairs, std::ranges::greater{}, &std::pair<Pair, std::uint64_t>::second);
  std::map<int, int> merged;  // by cluster: the cluster into which it is merged
  for (const auto& [pair, bytes] : pairs) {
    if (merged.contains(pair.first) || merged.contains(pair.second)) continue;
    merged[pair.first] = pair.first;
    merged[pair.second] = pair.first;
  }
  for (int& one : clusters)
    if (const auto into = merged.find(one); into != merged.end()) one = into->second;
  return !merged.empty();
}

Clusters grown(const TrafficMatrix& traffic, int ranks, int most) {
  Clusters clusters = single_ranks(ranks);
  while (merge_pairs(clusters, traffic, most)) {
  }
  std::vector<NodeId> keys;  // numbered anew, in the order of their lowest ranks
  for (const int one : clusters) keys.push_back(NodeId{static_cast<std::uint32_t>(one)});
  return ranks_of_nodes(keys);
}

}  // namespace

ClusterPrice price_of(const Clusters& clusters, const TrafficMatrix& traffic) {
  const std::size_t ranks = clusters.size();
  double all = 0;
  double logged = 0;
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      const auto bytes = static_cast<double>(traffic[from * ranks + to]);
      all += bytes;
      if (clusters[from] != clusters[to]) logged += bytes;
    }
  }
  std::map<int, double> sizes;
  for (const int one : clusters) ++sizes[one];
  double back = 0;
  for (const auto& [one, size] : sizes) back += size * size;
  const auto count = static_cast<double>(ranks);
  return {all == 0 ? 0 : logged / all, ranks == 0 ? 0 : back / (count * count)};
}

Clusters clusters_by_traffic(const TrafficMatrix& traffic, int ranks, int most) {
  const Clusters single = single_ranks(ranks);
  constexpr double worth_it = 0.9;  // of the price of single ranks; clusters of an all-to-all cost more
  double lowest = worth_it * price_of(single, traffic).sum();
  Clusters best = single;
  constexpr double equal = 1e-9;
  for (int bound = 2; bound / 2 < most; bound *= 2) {
    Clusters clusters = grown(traffic, ranks, std::min(bound, most));
    const double sum = price_of(clusters, traffic).sum();
    if (sum >= lowest - equal) continue;
    lowest = sum;
    best = std::move(clusters);
  }
  return best;
}

}  // namespace mend::replay
