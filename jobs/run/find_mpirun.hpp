// Chooses the mpirun with which a job is launched.

#pragma once

#include <filesystem>

namespace mend::jobs {

/// Returns true if this is an executable file. Local.
bool runnable(const std::filesystem::path& file);

/// Sets HOME if it is not set: to the home folder of the user, or "/". Programs of Open MPI do not start without it,
/// not even to tell their version. Local.
void have_home();

/// Returns the mpirun to use: the one that MEND_MPIRUN names, otherwise the one of the MPI with which mend was built,
/// otherwise the first on PATH. Local. Throws UsageError if MEND_MPIRUN does not name the mpirun of an Open MPI 5 or
/// later, and EnvironmentError if there is no mpirun. Needs HOME (have_home).
std::filesystem::path find_mpirun();

}  // namespace mend::jobs
