#include "framework/local_rollback/rollback_counts.hpp"

#include "base/name_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace mend {
namespace {

constexpr std::size_t others = 2;  // counts that are not by rank

std::size_t ranks_in(std::size_t words) { return words == 0 ? 0 : (words - others) / 2; }

}  // namespace

void RollbackCounts::begin(int ranks) {
  if (words_.empty()) words_.resize(2 * static_cast<std::size_t>(ranks) + others);
}

void RollbackCounts::go_back(std::span<const Rank> ranks, std::uint64_t steps_kept) {
  for (const Rank rank : ranks) ++words_.at(static_cast<std::size_t>(rank.value));
  if (!ranks.empty()) words_[words_.size() - 2] += steps_kept;
}

void RollbackCounts::computed_twice(Rank rank, std::uint64_t steps) {
  words_.at(ranks_in(words_.size()) + static_cast<std::size_t>(rank.value)) += steps;
}

void RollbackCounts::has_logged(std::uint64_t bytes) { words_.back() = std::max(words_.back(), bytes); }

std::string RollbackCounts::to_string() const {
  const std::size_t ranks = ranks_in(words_.size());
  std::vector<std::string> back;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (words_[rank] == 0) continue;
    const std::string times = words_[rank] == 1 ? "once" : fmt::format("{} times", words_[rank]);
    back.push_back(fmt::format("rank {} went back {}", rank, times));
  }
  if (back.empty()) return "";
  const auto again = words_.begin() + static_cast<std::ptrdiff_t>(ranks);
  const std::uint64_t twice = std::accumulate(again, again + static_cast<std::ptrdiff_t>(ranks), std::uint64_t{0});
  return fmt::format("{}; {} {} computed twice, and {} {} kept; a rank has logged {:.1f} MiB at most",
                     fmt::join(back, ", "), counted(twice, "step"), twice == 1 ? "was" : "were",
                     words_[words_.size() - 2], words_[words_.size() - 2] == 1 ? "was" : "were",
                     static_cast<double>(words_.back()) / (1U << 20U));
}

}  // namespace mend
