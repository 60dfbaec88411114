// The mpirun command line that fault tolerance needs. Each flag stands there for a failure seen without it;
// docs/open-mpi.md tells which.

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mend::jobs {

/// What to launch, as the user says it.
struct Launch {
  int ranks = 1;                            ///< size of the application's communicator
  int spares = 0;                           ///< processes that wait, in addition
  std::string hosts;                        ///< as mpirun --host takes it; empty: mpirun's own choice
  std::filesystem::path hostfile;           ///< as mpirun --hostfile takes it; empty: none
  std::filesystem::path result;             ///< where the job writes what happened; empty: nowhere
  std::string on_term;                      ///< as --mend-on-term takes it; empty: the program's own choice
  std::vector<std::string> mpirun_options;  ///< handed on as they are, after ours: they win
  std::vector<std::string> program;         ///< and its arguments

  int processes() const { return ranks + spares; }
};

using Environment = std::map<std::string, std::string>;

/// What `launch` needs in the environment of mpirun and of every process. `status_file` is where processes on this
/// node say how far they have come (base/telemetry/job_status.hpp); `terminal` whether standard output is one, which
/// they cannot see themselves: mpirun gives every process a pseudo-terminal. Local.
Environment job_environment(const Launch& launch, const std::filesystem::path& status_file, bool terminal, bool root);

/// The command line. `environment` is what job_environment returned, for the processes on other nodes. Local.
std::vector<std::string> mpirun_line(const std::filesystem::path& mpirun, const Launch& launch,
                                     const Environment& environment);

}  // namespace mend::jobs
