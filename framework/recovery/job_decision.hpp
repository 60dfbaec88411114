// The job decision: all living processes, ranks and spares, decide to recover or to end the job.
//
// The ranks decide among themselves by ballot (agreement/ballot.hpp). A recovery or the end of the job concerns the
// spares too, so it is decided here, by one agreement of all living processes. A spare has no wish of its own: it takes
// part because it was called or has noticed that a rank died.

#pragma once

#include "agreement/agreement.hpp"
#include "base/error.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace mend {

/// The contribution of a process to the job decision.
enum class Intent { finish, recover, abandon, follow };

struct JobDecision {
  Intent what = Intent::recover;  ///< never follow
  ExitCode code = ExitCode::ok;   ///< if the job ends: the exit code of all processes
  bool progressed = false;        ///< some rank has committed something since the last decision
  bool in_vain = false;           ///< no rank has, and a process knows that a replacement would die as well
  bool asked = false;             ///< a rank that has met no failure wants to recover
  bool committed_twice = false;   ///< some rank has committed more than once since the last decision
  std::uint32_t writes_done = 0;  ///< requests for a version on disk that the ranks have carried out; 0 without ranks
};

/// Makes the job decision, once an epoch. `code`: for Intent::abandon. `progressed`: this process has committed
/// something. `in_vain`: it knows that replacements for the dead would die as well. `asked`: it wants to recover
/// without having met a failure. `committed_twice`: it has committed more than once. `writes_done`: how many requests
/// from outside for a version on disk were carried out; for ranks only, which know the same number. If any process
/// abandons, the job ends with the highest code of those; otherwise, if any wants to recover, the job recovers. If all
/// follow, all ranks are dead and the spares recover. Collective over all living processes of `everyone`.
JobDecision decide_job(agreement::Agreement& everyone, Intent intent, ExitCode code = ExitCode::ok,
                       bool progressed = false, bool in_vain = false, bool asked = false, bool committed_twice = false,
                       std::optional<std::uint32_t> writes_done = {});

}  // namespace mend
