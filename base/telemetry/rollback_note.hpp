// Flags between the application's thread and the control thread under local rollback: a rank has rolled back, and the
// ranks have waited for each other in vain since then (detector/stall/stuck_process.hpp).

#pragma once

#include <atomic>

namespace mend::rollback_note {

/// Set by the main thread, while the ranks compute the steps after the last commit and one of them has rolled back to
/// it.
inline std::atomic<bool> has_gone_back{false};

/// Set by the control thread, and cleared by the main thread when it begins to roll back locally.
inline std::atomic<bool> waits_in_vain{false};

}  // namespace mend::rollback_note
