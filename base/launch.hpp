// The identity of this process and its job, as far as it is known before MPI is initialised. It comes from the runtime
// or, in a process that the job has started later (framework/spawn/process_starter.hpp), from the process that started
// it.

#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend::launch {

/// Set in processes that the job has started later: their number, the name of the job, the address to which they
/// connect, and the process whose death ends them (framework/spawn/parent_death_signal.hpp).
inline constexpr const char* process_variable = "MEND_PROCESS";
inline constexpr const char* job_variable = "MEND_JOB";
inline constexpr const char* host_address_variable = "MEND_HOST_ADDRESS";
inline constexpr const char* parent_death_variable = "MEND_PARENT_DEATH";

/// Returns this process's number; nothing if it was started without a launcher.
std::optional<ProcessId> self();

/// Returns the name of the job, which is the same for all its processes and unique to it; empty without a launcher.
std::string job();

/// Returns the address to which this process must connect, if the job has started it later than the others.
std::optional<std::string> host_address();

/// Set by mend run: how many processes it launches.
inline constexpr const char* processes_variable = "MEND_PROCESSES";

/// Returns how many processes were launched with this one; nothing if mend run has not launched it.
std::optional<std::uint32_t> processes();

/// Set by mend run when it launches the job anew: which launch of it this is, from 2.
inline constexpr const char* number_variable = "MEND_LAUNCH";

/// Returns which launch of the job by one mend run this is: 1, or more if it was launched anew (--relaunch).
int number();

/// Set by mend run --restart.
inline constexpr const char* restart_variable = "MEND_RESTART";

/// Returns true if the job must continue from disk and not start from the beginning (mend run --restart).
bool must_continue();

/// Lists of components of Open MPI that mend leaves out unless the user chooses others (docs/open-mpi.md): transports
/// that were not tried with failures, or are not reliable, and collective calls that do not survive them.
inline constexpr const char* transports_by_default = "^ofi,uct,usnic,smcuda,portals4";
inline constexpr const char* collectives_by_default = "^han,hcoll,portals4,cuda,accelerator";

/// Returns the names in a list of components or interfaces, which are separated by commas; an empty name where there is
/// none before, after or between commas. `list` must outlive them. Pure.
std::vector<std::string_view> names_in(std::string_view list);

/// Returns the components that are used if a user's environment has the list `users`: one that leaves components out
/// (^NAME,...) leaves out those of `own` too; another one is in force as it is. Pure.
std::string components(const std::string& users, const std::string& own);

/// Returns the host name of the machine. Local.
std::string machine();

/// Returns true on the first process of the job. As long as there is no communicator, this process prints the messages
/// that are the same on all processes.
bool speaks_for_all();

}  // namespace mend::launch
