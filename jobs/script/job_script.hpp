// Makes a job script for a batch system from the description of a run.

#pragma once

#include "base/clock.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

enum class Scheduler { slurm, pbs, lsf, flux };

/// The program to run, and the resources.
struct JobDescription {
  std::string name = "mend";
  int ranks = 1;
  int spares = 0;
  int spare_nodes = 0;  ///< instead of `spares`: nodes in addition to those of the ranks
  int processes_per_node = 1;
  Seconds time_limit{};
  std::string queue;                 ///< Slurm's partition; empty: the default one
  std::string account;               ///< empty: the user's default
  std::filesystem::path disk;        ///< for --mend-disk; empty: none
  int requeues = 0;                  ///< how often it may be launched again after too many deaths
  std::vector<std::string> program;  ///< with its arguments

  int nodes() const { return (ranks + spares + processes_per_node - 1) / processes_per_node + spare_nodes; }
};

/// The complete script. Pure. Throws UsageError if the scheduler cannot do what is asked.
std::string job_script(Scheduler scheduler, const JobDescription& job);

}  // namespace mend::jobs
