// Whether the program itself is what kills its processes: a rank that dies again and again of something that nobody
// else does to it, with no commit in between, would do so with every process that takes its place.

#pragma once

#include "base/death/death_cause.hpp"
#include "framework/recovery_report.hpp"

#include <functional>
#include <optional>
#include <span>

namespace mend {

/// What a process has died of.
using CauseOf = std::function<DeathCause(ProcessId)>;

struct RepeatedDeath {
  Rank rank;
  int times = 0;  ///< in a row
  DeathCause cause;
};

/// Whether ranks count that have died of nothing that is known.
enum class Unknown { is_no_fault, counts };

/// Of the ranks that lost their process in `now`, the one that has lost the most in a row, `now` and the last of
/// `before` counted, each by a fault of the program. A death of unknown cause counts when that of another in the row is
/// known, or with Unknown::counts: when the causes were waited for, one that the runtime knows nothing of is an _exit
/// rather than a signal. Nothing when no rank has lost two. `before`: recoveries with no commit in between, the last
/// one last. Pure.
std::optional<RepeatedDeath> find_repeated_death(std::span<const RecoveryReport> before, std::span<const Loss> now,
                                                 const CauseOf& cause_of, Unknown unknown = Unknown::is_no_fault);

/// The same for sentences: whatever they have died of, a signal from outside as well. Its cause is that of the last
/// whose cause is known. Pure.
std::optional<RepeatedDeath> find_deaths_in_a_row(std::span<const RecoveryReport> before, std::span<const Loss> now,
                                                  const CauseOf& cause_of);

}  // namespace mend
