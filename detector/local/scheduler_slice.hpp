// Short scheduler slices: a thread that never runs for long can be scheduled sooner.

#pragma once

namespace mend::detector {

/// Asks the scheduler for short slices of the calling thread. The thread then runs sooner after it wakes, even if other
/// threads are ready to run (Linux 6.12 and later; no effect elsewhere). It does not get more time than before.
void request_short_scheduler_slice();

}  // namespace mend::detector
