// What the application's thread and the control thread tell each other under local rollback: that a rank has gone back,
// and that the ranks wait for each other in vain since then (detector/stall/stuck_process.hpp).

#pragma once

#include <atomic>

namespace mend::rollback_note {

/// Set by the main thread, while the ranks compute what came after the last commit and one of them has gone back to it.
inline std::atomic<bool> has_gone_back{false};

/// Set by the control thread, and cleared by the main thread when it begins to roll back locally.
inline std::atomic<bool> waits_in_vain{false};

}  // namespace mend::rollback_note
