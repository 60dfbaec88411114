// What the launcher tells a process through its environment, before MPI is initialised.

#pragma once

#include "base/ids.hpp"

#include <optional>

namespace apps {

/// Which of the launched processes this is; nothing when it was started without a launcher.
std::optional<mend::ProcessId> launched_as();

/// Whether this process speaks for all before MPI is initialised: the first one launched, or the only one.
bool speaks_for_all();

}  // namespace apps
