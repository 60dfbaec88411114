#include "framework/recovery_report.hpp"

#include "base/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mend {
namespace {

std::string counted(std::size_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace

std::string RecoveryReport::to_string() const {
  std::string what;
  for (const Replacement& r : replacements) {
    what += fmt::format("{}rank {}: process {} died, process {} took over", what.empty() ? "" : "; ", r.rank.value,
                        r.dead.value, r.newcomer.value);
  }
  for (const LostRank& loss : given_up) {
    what += fmt::format("{}rank {}: process {} died, the rank was given up", what.empty() ? "" : "; ", loss.rank.value,
                        loss.dead.value);
  }
  for (ProcessId process : dead) {
    const auto is_its = [&](const auto& place) { return place.dead == process; };
    const bool held_rank = std::ranges::any_of(replacements, is_its) || std::ranges::any_of(given_up, is_its);
    if (!held_rank) what += fmt::format("{}spare process {} died", what.empty() ? "" : "; ", process.value);
  }
  return fmt::format("epoch {}: {}; interrupt {:.2f}, agree {:.2f}, rebuild {:.2f}, restore {:.2f} ms", epoch.value,
                     what, interrupt.count(), agree.count(), rebuild.count(), restore.count());
}

std::string summarise(std::span<const RecoveryReport> recoveries) {
  std::size_t dead = 0;
  std::size_t replaced = 0;
  std::size_t given_up = 0;
  for (const RecoveryReport& report : recoveries) {
    dead += report.dead.size();
    replaced += report.replacements.size();
    given_up += report.given_up.size();
  }
  std::string text = counted(recoveries.size(), "recovery", "recoveries");
  if (recoveries.empty()) return text;
  text += fmt::format(": {} died", counted(dead, "process", "processes"));
  if (replaced > 0) text += fmt::format(", {} taken over", counted(replaced, "rank was", "ranks were"));
  if (given_up > 0) text += fmt::format(", {} given up", counted(given_up, "rank was", "ranks were"));
  std::vector<RecoveryReport> by_length(recoveries.begin(), recoveries.end());
  std::ranges::stable_sort(by_length, {}, &RecoveryReport::whole);
  const RecoveryReport& middle = by_length[by_length.size() / 2];
  const std::string several =
      recoveries.size() > 1 ? fmt::format(" (median; {:.1f} at most)", by_length.back().whole().count()) : "";
  const auto phases = round_parts(
      {middle.interrupt.count(), middle.agree.count(), middle.rebuild.count(), middle.restore.count()}, 0.1);
  return text +
         fmt::format(
             "; {:.1f} ms until the data was back{}: interrupt {:.1f}, agree {:.1f}, rebuild {:.1f}, restore {:.1f} ms",
             middle.whole().count(), several, phases[0], phases[1], phases[2], phases[3]);
}

}  // namespace mend
