// The job decision: all living processes, ranks and spares, decide to recover or to end the job.
//
// The ranks decide among themselves by ballot (agreement/ballot.hpp). A recovery or the end of the job concerns the
// spares too, so it is then decided here, by one agreement of all living processes. A spare has no opinion: it takes
// part because it was called or because it noticed that a rank has died.

#pragma once

#include "agreement/agreement.hpp"
#include "base/error.hpp"

#include <memory>

namespace mend {

/// What a process brings to the job decision.
enum class Intent { finish, recover, abandon, follow };

struct JobDecision {
  Intent what = Intent::recover;  ///< never follow
  ExitCode code = ExitCode::ok;   ///< when the job ends: what all return
  bool progressed = false;        ///< a rank has committed something since the last decision
  bool in_vain = false;           ///< no rank has, and a process knows that a replacement would die as well
  bool asked = false;             ///< a rank wants to recover that has met no failure
};

/// Decides once an epoch. `code`: for Intent::abandon. `progressed`: this process has committed something. `in_vain`:
/// it knows that replacements for the dead would die as well. `asked`: it has met no failure, and wants to recover all
/// the same. Intent::abandon of any process wins, with
/// the highest code of those who abandon, then Intent::recover; if all only follow, all ranks are dead, and the
/// spares recover. Collective over all living processes of `everyone`.
JobDecision decide_job(agreement::Agreement& everyone, Intent intent, ExitCode code = ExitCode::ok,
                       bool progressed = false, bool in_vain = false, bool asked = false);

}  // namespace mend
