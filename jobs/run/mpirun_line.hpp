// The mpirun command line that fault tolerance needs. Each flag prevents a failure that was seen without it
// (docs/open-mpi.md).

#pragma once

#include "jobs/network/network_choice.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

/// The launch that the user wants.
struct Launch {
  int ranks = 1;                                   ///< size of the application's communicator
  int spares = 0;                                  ///< processes that wait, in addition to the ranks
  int spare_nodes = 0;                             ///< the last nodes, which hold spares alone
  std::string hosts{};                             ///< in the form of mpirun --host; empty: mpirun's own choice
  std::filesystem::path hostfile{};                ///< in the form of mpirun --hostfile; empty: none
  std::string agent{};                             ///< command that starts a daemon on a node; empty: mpirun's own way
  bool elsewhere = false;                          ///< some processes run, or may run, on other machines than this one
  bool is_here_too = true;                         ///< some processes are known to run on this machine
  NetworkChoice network{};                         ///< what carries messages, and over which interfaces
  std::filesystem::path result{};                  ///< where the job writes its result file; empty: nowhere
  bool checks_determinism = false;                 ///< ranks end on purpose (--mend-check-determinism)
  std::string on_term{};                           ///< in the form of --mend-on-term; empty: the program's own choice
  bool restarts = false;                           ///< the job must continue from disk
  int number = 1;                                  ///< which launch of the job this is (--relaunch, --start-tries)
  std::map<std::string, std::string> inherited{};  ///< the environment of mend run
  std::vector<std::string> mpirun_options{};  ///< passed on unchanged, after mend's own options, which they override
  std::vector<std::string> program{};         ///< with its arguments

  int processes() const { return ranks + spares; }
};

using Environment = std::map<std::string, std::string>;

/// Holds the settings of Open MPI that mend run has made for a job: NAME=VALUE, with bars between. The processes have
/// them as OMPI_MCA_NAME, beside the user's. A mend run inside of the job leaves them out.
inline constexpr const char* own_settings_variable = "OMPI_MEND_SETTINGS";

/// Returns the settings in the value of that variable. Local.
Settings own_settings_in(std::string_view value);

/// Returns the variables that `launch` needs in the environment of mpirun and of every process, with those of mend that
/// the user has set, because daemons on other nodes do not inherit them. `status_file`: where
/// processes on this node report their progress (base/telemetry/job_status.hpp). `terminal`: standard output is a
/// terminal; the processes cannot see that, because mpirun gives each a pseudo-terminal. Local.
Environment job_environment(const Launch& launch, const std::filesystem::path& status_file, bool terminal, bool root);

/// Returns the command line. `environment`: the result of job_environment, for the processes on other nodes. Local.
std::vector<std::string> mpirun_line(const std::filesystem::path& mpirun, const Launch& launch,
                                     const Environment& environment);

}  // namespace mend::jobs
