// Why a job ends, said by one of those who know.

#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace mend {

/// Has one of the processes that know why the job ends say so on standard error, and returns when that is done. Whoever
/// was to say it may die before: then another does. `why` makes the sentence, and is empty in a process that does not
/// know; if all who knew have died, that is said. Collective over the living of `base`.
void say_why(MPI_Comm base, const std::function<std::string()>& why);

}  // namespace mend
