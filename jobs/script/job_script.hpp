// A job script for a batch system, made from the description of a run.

#pragma once

#include "base/clock.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

enum class Scheduler { slurm, pbs, lsf, flux };

/// What to run, and where.
struct JobDescription {
  std::string name = "mend";
  int ranks = 1;
  int spares = 0;
  int processes_per_node = 1;
  Seconds time_limit{};
  std::string queue;                 ///< partition, in Slurm's words; empty: the default one
  std::string account;               ///< empty: the user's default
  std::filesystem::path disk;        ///< for --mend-disk; empty: none
  int requeues = 0;                  ///< how often it may be launched anew when too much has died
  std::vector<std::string> program;  ///< and its arguments

  int nodes() const { return (ranks + spares + processes_per_node - 1) / processes_per_node; }
};

/// The whole script. Pure. Throws UsageError, with a sentence, for what the scheduler cannot do.
std::string job_script(Scheduler scheduler, const JobDescription& job);

}  // namespace mend::jobs
