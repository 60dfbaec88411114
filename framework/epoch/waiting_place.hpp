// The place at which a process waits while it carries out an action of the recovery core. It is reported to processes
// that wait for this one (detector/stall/stall_watch.hpp).

#pragma once

#include "base/telemetry/place.hpp"
#include "framework/recovery/core/recovery_core.hpp"

#include <optional>

namespace mend {

/// Returns the place of `action`; nothing if the process stays where it was. Pure.
std::optional<Place> waiting_place(const recovery::Action& action);

}  // namespace mend
