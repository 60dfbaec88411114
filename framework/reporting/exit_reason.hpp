// Has one of the processes that know why a job ends report the reason.

#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace mend {

/// Has one of the processes that know why the job ends write the reason to standard error. Returns when it is written.
/// If that process dies before, another one writes it. `why` makes the message; it is empty in a process that does not
/// know. If all that knew have died, the message says so. Collective over the living processes of `base`.
void say_why(MPI_Comm base, const std::function<std::string()>& why);

}  // namespace mend
