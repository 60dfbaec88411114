// What the launcher tells a process through its environment, before MPI is initialised.

#pragma once

#include "base/ids.hpp"

#include <optional>
#include <string>

namespace apps {

/// Which of the launched processes this is; nothing when it was started without a launcher.
std::optional<mend::ProcessId> launched_as();

/// How many processes were launched with this one; 0 without a launcher.
int launched_processes();

/// The name of the job, the same for all that were launched together and for nobody else; empty without a launcher.
std::string launched_in();

/// Whether this process speaks for all before MPI is initialised: the first one launched, or the only one.
bool speaks_for_all();

}  // namespace apps
