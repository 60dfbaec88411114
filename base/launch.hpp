// Which process of which job this is, as far as that is known before MPI is initialised: by the runtime's word, or, for
// one that the job itself has started later (framework/spawn/process_starter.hpp), by the word of the process that
// started it.

#pragma once

#include "base/ids.hpp"

#include <optional>
#include <string>

namespace mend::launch {

/// Set in processes that the job has started later: their number, the name of the job, where they are awaited, and what
/// they hang on (framework/spawn/parent_death_signal.hpp).
inline constexpr const char* process_variable = "MEND_PROCESS";
inline constexpr const char* job_variable = "MEND_JOB";
inline constexpr const char* door_variable = "MEND_DOOR";
inline constexpr const char* parent_death_variable = "MEND_PARENT_DEATH";

/// This process's number; nothing when no launcher has started it.
std::optional<ProcessId> self();

/// The name of the job, the same for all its processes and for nobody else; empty without a launcher.
std::string job();

/// Whether the job has started this process later than the others, and what it calls the place where it is awaited.
std::optional<std::string> door();

/// What the machine calls itself. Local.
std::string machine();

/// Whether this process speaks when all have the same to say before any communicator exists: the first of the job.
bool speaks_for_all();

}  // namespace mend::launch
