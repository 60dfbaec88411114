// What `mend status` shows of a job: what its processes have written on the board (base/telemetry/job_board.hpp), and
// what the kernel says of them.

#pragma once

#include "base/clock.hpp"
#include "base/telemetry/job_board.hpp"

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <string>

namespace mend::jobs {

/// What the launcher knows of its job.
struct JobFacts {
  pid_t job = 0;
  std::string program;
  int ranks = 0;
  int spares = 0;
  Clock::time_point begun;
};

/// The state of a job now. Processes on other machines are not in it: "launched" says how many there are in all. Local.
nlohmann::json state_of(const JobFacts& facts, const board::Board& board);

/// The same for people: a line on the job, a line on its commits, and a table of its processes. Pure.
std::string to_text(const nlohmann::json& state);

}  // namespace mend::jobs
