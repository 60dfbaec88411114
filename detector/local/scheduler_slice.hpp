// A thread that never runs for long can be let run sooner.

#pragma once

namespace mend::detector {

/// Asks the scheduler for short turns of the calling thread, which it then begins sooner after waking, whatever else
/// wants to run (Linux 6.12 and later; elsewhere nothing changes). It does not get more time than before.
void request_short_scheduler_slice();

}  // namespace mend::detector
