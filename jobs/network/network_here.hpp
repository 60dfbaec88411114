// What this machine, and its Open MPI, have for a job's network.

#pragma once

#include "jobs/network/network_choice.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace mend::jobs {

/// Returns the interfaces that the user gives to MPI's messages (btl_tcp_if_include); empty if there are none, or this
/// machine does not have them. Local.
std::string interfaces_of_mpi(const Settings& user);

/// Returns the names of the InfiniBand devices of this machine, in alphabetical order. Local.
std::vector<std::string> infiniband_devices();

/// Throws UsageError if the library beside `mpirun` was not built with this transport's component. Local; starts
/// ompi_info.
void require_component(const std::filesystem::path& mpirun, const std::string& component);

}  // namespace mend::jobs
