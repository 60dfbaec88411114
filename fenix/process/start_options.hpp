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

/// Returns the options of the job: the options given to mend, the arguments of Fenix_Init, which replace options, and
/// the settings in the MPI_Info. Warns of settings without effect. Throws UsageError for options that programs for
/// Fenix cannot use. Local.
Options options_of(const StartArguments& arguments);

/// Returns the number of processes of the launch that are not spares. A process that was started later has a launch of
/// its own. Local.
int wanted_ranks(int spares);

}  // namespace mend::fenix
