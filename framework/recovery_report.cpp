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
  for (const Loss& loss : given_up) {
    what += fmt::format("{}rank {}: process {} died, the rank was given up", what.empty() ? "" : "; ", loss.rank.value, loss.dead.value);
  }
  for (ProcessId process : dead) {
    const auto is_its = [&](const auto& place) { return place.dead == process; };
    const bool held_rank = std::ranges::any_of(replacements, is_its) || std::ranges::any_of(given_up, is_its);
    if (!held_rank) what += fmt::format("{}spare process {} died", what.empty() ? "" : "; ", process.value);
  }
  return fmt::format("epoch {}: {}; interrupt {:.2f}, agree {:.2f}, rebuild {:.2f}, restore {:.2f} ms", epoch.value, what,
                     interrupt.count(), agree.count(), rebuild.count(), restore.count());
}

}  // namespace mend
