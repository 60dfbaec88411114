#include "replay/clusters/clusters.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

namespace mend::replay {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::optional<int> rank_in(std::string_view text) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || rank < 0) return std::nullopt;
  return rank;
}

/// Reads "3" or "3-5"; returns nothing for any other text.
std::optional<std::pair<int, int>> range_in(std::string_view text) {
  const auto dash = text.find('-');
  const std::optional<int> first = rank_in(trimmed(text.substr(0, dash)));
  const std::optional<int> last = dash == std::string_view::npos ? first : rank_in(trimmed(text.substr(dash + 1)));
  constexpr int most = 10'000'000;
  if (!first || !last || *last < *first || *last > most) return std::nullopt;
  return std::pair{*first, *last};
}

/// Numbers the clusters anew, in the order of their lowest ranks.
template <class Key>
Clusters numbered(const std::vector<Key>& keys) {
  std::map<Key, int> numbers;
  Clusters clusters;
  for (const Key& key : keys)
    clusters.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  return clusters;
}

}  // namespace

Clusters single_ranks(int ranks) {
  Clusters clusters(static_cast<std::size_t>(ranks));
  std::iota(clusters.begin(), clusters.end(), 0);
  return clusters;
}

Clusters blocks_of_ranks(int ranks, int count) {
  if (count < 1 || count > ranks) {
    throw UsageError(fmt::format("--mend-clusters {} is not possible with {} rank{}: give a number from 1 to {}", count,
                                 ranks, ranks == 1 ? "" : "s", ranks));
  }
  Clusters clusters;
  for (int rank = 0; rank < ranks; ++rank)
    clusters.push_back(static_cast<int>(static_cast<long long>(rank) * count / ranks));
  return clusters;
}

Clusters ranks_of_nodes(std::span<const NodeId> nodes) {
  return numbered(std::vector<NodeId>(nodes.begin(), nodes.end()));
}

ClusterLines read_cluster_lines(std::string_view text, std::string_view name) {
  ClusterLines lines;
  std::map<int, int> places;  // by rank: its line
  int number = 0;
  std::istringstream rest{std::string(text)};
  for (std::string line; std::getline(rest, line);) {
    ++number;
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.empty()) continue;
    std::vector<int>& ranks = lines.emplace_back();
    for (std::size_t at = 0; at <= content.size();) {
      const std::size_t end = std::min(content.find(',', at), content.size());
      const std::string_view item = trimmed(content.substr(at, end - at));
      const auto range = range_in(item);
      if (!range) {
        throw UsageError(fmt::format("{}, line {}: '{}' is neither a rank nor a range of ranks, as in \"0-3, 8\"", name,
                                     number, item));
      }
      for (int rank = range->first; rank <= range->second; ++rank) {
        if (const auto [known, is_new] = places.try_emplace(rank, number); !is_new) {
          throw UsageError(
              fmt::format("{}, line {}: rank {} is already in line {}", name, number, rank, known->second));
        }
        ranks.push_back(rank);
      }
      at = end + 1;
    }
  }
  if (lines.empty()) throw UsageError(fmt::format("{} names no rank: give a line for each cluster", name));
  return lines;
}

Clusters clusters_from(const ClusterLines& lines, int ranks, std::string_view name) {
  std::vector<int> keys(static_cast<std::size_t>(ranks), -1);
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (const int rank : lines[line]) {
      if (rank >= ranks)
        throw UsageError(fmt::format("{} names rank {}, but the job has the ranks 0 to {}", name, rank, ranks - 1));
      keys[static_cast<std::size_t>(rank)] = static_cast<int>(line);
    }
  }
  const auto missing = std::ranges::find(keys, -1);
  if (missing != keys.end())
    throw UsageError(
        fmt::format("{} does not name rank {}: each rank is in one cluster", name, missing - keys.begin()));
  return numbered(keys);
}

int count_of(const Clusters& clusters) { return clusters.empty() ? 0 : *std::ranges::max_element(clusters) + 1; }

std::vector<int> ranks_in(const Clusters& clusters, int one) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < clusters.size(); ++rank)
    if (clusters[rank] == one) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

std::string to_string(const Clusters& clusters) {
  std::vector<std::string> parts;
  for (int one = 0; one < count_of(clusters); ++one) {
    const std::vector<int> ranks = ranks_in(clusters, one);
    std::vector<std::string> runs;
    for (std::size_t begin = 0; begin < ranks.size();) {
      std::size_t end = begin;
      while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
      runs.push_back(begin == end ? fmt::format("{}", ranks[begin]) : fmt::format("{}-{}", ranks[begin], ranks[end]));
      begin = end + 1;
    }
    parts.push_back(fmt::format("{}", fmt::join(runs, ",")));
  }
  return fmt::format("{}", fmt::join(parts, " | "));
}

std::vector<bool> survivors_that_roll_back(std::span<const Life> lives, const Clusters& clusters) {
  std::vector<bool> rolls_back(lives.size());
  for (std::size_t one = 0; one < lives.size(); ++one) {
    if (!lives[one]) continue;
    for (std::size_t other = 0; other < lives.size(); ++other)
      if (clusters[other] == clusters[one] && lives[other] != lives[one]) rolls_back[one] = true;
  }
  return rolls_back;
}

}  // namespace mend::replay
