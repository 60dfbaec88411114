#include "framework/reporting/loss_advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace mend {

std::string advise_on_loss(std::span<const RankDeath> lost, int ranks, bool has_disk) {
  if (lost.empty()) return "";
  std::vector<std::string> who;
  for (const RankDeath& one : lost) {
    who.push_back(one.cause.is_known() ? fmt::format("rank {} ({})", one.rank.value, one.cause.to_string())
                                       : fmt::format("rank {}", one.rank.value));
  }
  const auto [first, last] = std::ranges::minmax_element(lost, {}, &RankDeath::when);
  const int dead = static_cast<int>(lost.size());
  std::string text = fmt::format("; {} died", fmt::join(who, ", "));
  if (dead > 1) text += fmt::format(" within {:.1f} ms", Milliseconds(last->when - first->when).count());
  std::vector<std::string> remedies;
  if (dead < ranks) {
    const std::string scheme = dead == 1 ? "partner" : fmt::format("replicas:{}", dead);
    remedies.push_back(fmt::format("--mend-redundancy {}, which survives {}", scheme,
                                   dead == 1 ? "the loss of a rank" : fmt::format("the loss of any {} ranks", dead)));
  }
  if (!has_disk) remedies.emplace_back("--mend-disk DIR, which keeps versions on disk");
  return remedies.empty() ? text : fmt::format("{}: start again with {}", text, fmt::join(remedies, ", or with "));
}

}  // namespace mend
