#include "framework/reporting/repeated_deaths.hpp"

#include <algorithm>
#include <ranges>

namespace mend {
namespace {

/// Which process the rank lost in that recovery.
std::optional<ProcessId> lost_in(const RecoveryReport& report, Rank rank) {
  const auto found = std::ranges::find(report.replacements, rank, &Replacement::rank);
  return found == report.replacements.end() ? std::nullopt : std::optional(found->dead);
}

/// The deaths of a rank in a row.
class Row {
 public:
  explicit Row(Rank rank) { death_.rank = rank; }

  /// Whether one more belongs to it.
  bool takes(const DeathCause& cause) {
    if (cause.is_known() && !cause.is_fault_of_program()) return false;
    ++death_.times;
    if (!death_.cause.is_known()) death_.cause = cause;
    return true;
  }

  const RepeatedDeath& death() const { return death_; }

 private:
  RepeatedDeath death_;
};

}  // namespace

std::optional<RepeatedDeath> find_repeated_death(std::span<const RecoveryReport> before, std::span<const Loss> now,
                                                 const CauseOf& cause_of, Unknown unknown) {
  std::optional<RepeatedDeath> most;
  for (const Loss& loss : now) {
    Row row(loss.rank);
    bool goes_on = row.takes(cause_of(loss.dead));
    for (const RecoveryReport& report : before | std::views::reverse) {
      const auto dead = lost_in(report, loss.rank);
      goes_on = goes_on && dead && row.takes(cause_of(*dead));
      if (!goes_on) break;
    }
    const RepeatedDeath& found = row.death();
    if (found.times < 2 || (!found.cause.is_known() && unknown != Unknown::counts)) continue;
    if (!most || found.times > most->times) most = found;
  }
  return most;
}

}  // namespace mend
