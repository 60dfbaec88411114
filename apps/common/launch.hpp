// What the launcher tells a process through its environment, before MPI is initialised, beside base/launch.hpp.

#pragma once

namespace apps {

/// How many processes were launched at the start of the job; 0 where that is not known: without a launcher, and in
/// processes that the job has started later.
int launched_processes();

}  // namespace apps
