// Starts mpirun's daemon on a node of a Slurm allocation, as ssh does elsewhere.
//
// By itself mpirun starts all daemons by one srun, and treats its end as the end of all: one lost node ends the job. So
// `mend run` has mpirun start each daemon by a remote shell of its own, which is `mend slurm-agent NODE COMMAND...`.

#pragma once

#include <string>
#include <vector>

namespace mend::jobs {

/// The name of the hidden subcommand.
inline constexpr const char* slurm_agent_command = "slurm-agent";

/// Runs the words of `command`, a shell command that starts a daemon, on `node`, by srun. Returns 0 when the daemon
/// runs there, as ssh returns from a daemon that puts itself into the background; srun continues until the daemon ends.
/// Returns srun's exit code if it ends before that. Local.
int start_daemon(const std::string& node, const std::vector<std::string>& command);

}  // namespace mend::jobs
