// Where a process is while it carries out an action of the recovery core: what other processes are told that wait for
// it (detector/stall/stall_watch.hpp).

#pragma once

#include "base/telemetry/place.hpp"
#include "framework/recovery/recovery_core.hpp"

#include <optional>

namespace mend {

/// The place of `action`; nothing if the process stays at the place where it was. Pure.
std::optional<Place> waiting_place(const recovery::Action& action);

}  // namespace mend
