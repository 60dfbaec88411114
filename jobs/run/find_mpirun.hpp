// Which mpirun a job is launched with.

#pragma once

#include <filesystem>

namespace mend::jobs {

/// Whether this is a file that may be executed. Local.
bool runnable(const std::filesystem::path& file);

/// The mpirun to use: the one MEND_MPIRUN names, else the one of the MPI that mend was built with, else the first on
/// PATH. Local. Throws UsageError when MEND_MPIRUN names something else than the mpirun of an Open MPI 5 or later, and
/// EnvironmentError when there is none.
std::filesystem::path find_mpirun();

}  // namespace mend::jobs
