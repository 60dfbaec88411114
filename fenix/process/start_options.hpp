// The arguments of Fenix_Init, and the options of the job that follow from them.

#pragma once

#include "framework/options.hpp"

#include <mpi.h>

namespace mend::fenix {

struct StartArguments {
  MPI_Comm comm;
  int* argc;
  char*** argv;
  int spares;
  int spawn;
  MPI_Info info;
};

/// The options of the job: those that were given to mend, with what Fenix_Init asks for instead of it, and the settings
/// in the MPI_Info. Warns of what has no effect. Throws UsageError for what programs for Fenix cannot have. Local.
Options options_of(const StartArguments& arguments);

/// Returns the number of processes of the launch that are not spares. One that was started later has a launch of its
/// own. Local.
int wanted_ranks(int spares);

}  // namespace mend::fenix
