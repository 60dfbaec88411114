// The state of a job as `mend status` shows it: the entries of its processes on the board
// (base/telemetry/job_board.hpp), and the kernel's data on them.

#pragma once

#include "base/clock.hpp"
#include "base/telemetry/job_board.hpp"

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <string>

namespace mend::jobs {

/// The launcher's data on its job.
struct JobFacts {
  pid_t job = 0;
  std::string program;
  int ranks = 0;
  int spares = 0;
  bool all_here = false;  ///< all processes on this machine
  Clock::time_point begun;
};

/// Returns the state of a job. The state of processes on other machines comes from the last look, if a process of this
/// machine has asked them for it: "look" is the number of that look, "awaited" the number of processes that have not
/// answered. "launched" is the number of all processes. Local.
nlohmann::json state_of(const JobFacts& facts, const board::Board& board);

/// The same as text: a line on the job, a line on its commits, and a table of its processes. Pure.
std::string to_text(const nlohmann::json& state);

}  // namespace mend::jobs
