// Finds ranks that die repeatedly by the program's own fault. If a rank does so with no commit in between, every
// process that takes its place is likely to die too.

#pragma once

#include "base/death/death_cause.hpp"
#include "framework/recovery_report.hpp"

#include <functional>
#include <optional>
#include <span>

namespace mend {

/// Returns the cause of a process's death.
using CauseOf = std::function<DeathCause(ProcessId)>;

struct RepeatedDeath {
  Rank rank;
  int times = 0;  ///< in a row
  DeathCause cause;
};

/// The rule for a row of deaths in which no cause is known.
enum class Unknown { is_no_fault, counts };

/// Returns the rank of `now` that has the longest row of deaths by a fault of the program. The row includes the death
/// of `now` and goes back through the recoveries of `before`. A death of unknown cause counts if another cause in the
/// row is known, or with Unknown::counts: if the causes were waited for, a death without a cause was an _exit rather
/// than a signal. Returns nothing if no rank has two deaths. `before`: recoveries with no commit in between, the last
/// one last. Pure.
std::optional<RepeatedDeath> find_repeated_death(std::span<const RecoveryReport> before, std::span<const LostRank> now,
                                                 const CauseOf& cause_of, Unknown unknown = Unknown::is_no_fault);

/// The same for messages, for all causes, signals from outside included. The cause is the last one that is known. Pure.
std::optional<RepeatedDeath> find_deaths_in_a_row(std::span<const RecoveryReport> before, std::span<const LostRank> now,
                                                  const CauseOf& cause_of);

}  // namespace mend
