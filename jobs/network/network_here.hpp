// What this machine, and its Open MPI, have for a job's network.

#pragma once

#include "jobs/network/network_choice.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace mend::jobs {

/// Returns the names of the devices of this machine with an InfiniBand port, in alphabetical order. Local.
std::vector<std::string> infiniband_devices();

/// Returns the settings in the parameter files of the Open MPI in `prefix`: the system's, and then the user's, which
/// override them. Local.
Settings settings_in_files_of(const std::filesystem::path& prefix);

/// Returns the names of the variables that limit the interfaces of mpirun's daemons and that are set. mpirun does not
/// start with one of them beside an option of the opposite meaning. Local.
std::vector<std::string> variables_for_daemons();

/// Returns true if the library beside `mpirun` was built with this transport's component. Local; starts ompi_info.
bool has_component(const std::filesystem::path& mpirun, const std::string& component);

/// Throws UsageError if the library beside `mpirun` was not built with this transport's component. Local; starts
/// ompi_info.
void require_component(const std::filesystem::path& mpirun, const std::string& component);

}  // namespace mend::jobs
