#include "framework/recovery_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend {

std::string RecoveryReport::to_string() const {
  std::string what;
  for (const Replacement& r : replacements) {
    what += fmt::format("{}rank {}: process {} died, process {} took over", what.empty() ? "" : "; ", r.rank.value,
                        r.dead.value, r.newcomer.value);
  }
  for (ProcessId process : dead) {
    const bool held_rank = std::any_of(replacements.begin(), replacements.end(),
                                       [&](const Replacement& r) { return r.dead == process; });
    if (!held_rank) what += fmt::format("{}spare process {} died", what.empty() ? "" : "; ", process.value);
  }
  return fmt::format("epoch {}: {}; interrupt {:.2f}, agree {:.2f}, rebuild {:.2f}, restore {:.2f} ms", epoch.value, what,
                     interrupt.count(), agree.count(), rebuild.count(), restore.count());
}

}  // namespace mend
