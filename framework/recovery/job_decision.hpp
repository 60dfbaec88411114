// Where everyone meets: the ranks, and the spares that were called in.
//
// The ranks decide among themselves by ballot (agreement/ballot.hpp). What concerns the spares too - a recovery, the
// end of the job - is then settled here, by one agreement of every living process. A spare has no opinion; it comes
// because it was called or because it saw a rank die, and learns what for.

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
  bool progressed = false;        ///< somebody has got something done since the last one
  bool in_vain = false;           ///< nobody has, and somebody knows that another process would die like the last ones
};

/// Collective over all living processes of `everyone`, once an epoch. `code` matters with Intent::abandon;
/// `progressed`: whether this one has got something done; `in_vain`: whether it knows that the dead need not be
/// replaced. Any wish to abandon wins, then any wish to recover; if only spares have come, all ranks are dead, and they
/// recover.
JobDecision decide_job(agreement::Agreement& everyone, Intent intent, ExitCode code = ExitCode::ok,
                       bool progressed = false, bool in_vain = false);

}  // namespace mend
