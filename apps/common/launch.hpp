// Information that the launcher gives a process through its environment, before MPI is initialised, beside
// base/launch.hpp.

#pragma once

namespace apps {

/// Returns how many processes were launched at the start of the job; 0 if that is not known: without a launcher, and in
/// processes that the job has started later.
int launched_processes();

}  // namespace apps
