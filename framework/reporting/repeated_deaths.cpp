#include "framework/reporting/repeated_deaths.hpp"

#include <algorithm>
#include <ranges>

namespace mend {
namespace {

/// Returns the process that the rank lost in that recovery.
std::optional<ProcessId> lost_in(const RecoveryReport& report, Rank rank) {
  const auto found = std::ranges::find(report.replacements, rank, &Replacement::rank);
  return found == report.replacements.end() ? std::nullopt : std::optional(found->dead);
}

enum class Which { faults_of_program, all };

/// Consecutive deaths of a rank, from the last one backwards.
class Row {
 public:
  Row(Rank rank, Which which) : which_(which) { death_.rank = rank; }

  /// Adds a death to the row. Returns false if it does not belong to it.
  bool takes(const DeathCause& cause) {
    if (which_ == Which::faults_of_program && cause.is_known() && !cause.is_fault_of_program()) return false;
    ++death_.times;
    if (!death_.cause.is_known()) death_.cause = cause;
    return true;
  }

  const RepeatedDeath& death() const { return death_; }

 private:
  Which which_;
  RepeatedDeath death_;
};

/// Returns the longest row. `unknown`: whether a row counts in which no cause is known.
std::optional<RepeatedDeath> find_row(std::span<const RecoveryReport> before, std::span<const LostRank> now,
                                      const CauseOf& cause_of, Which which, Unknown unknown) {
  std::optional<RepeatedDeath> most;
  for (const LostRank& loss : now) {
    Row row(loss.rank, which);
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

}  // namespace

std::optional<RepeatedDeath> find_repeated_death(std::span<const RecoveryReport> before, std::span<const LostRank> now,
                                                 const CauseOf& cause_of, Unknown unknown) {
  return find_row(before, now, cause_of, Which::faults_of_program, unknown);
}

std::optional<RepeatedDeath> find_deaths_in_a_row(std::span<const RecoveryReport> before, std::span<const LostRank> now,
                                                  const CauseOf& cause_of) {
  return find_row(before, now, cause_of, Which::all, Unknown::counts);
}

}  // namespace mend
