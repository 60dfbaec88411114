// How long the job may run: what the user says, or what the batch system says of its allocation.

#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string_view>

namespace mend::jobs {

/// Inside a job of Slurm: how long it may still run, by SLURM_JOB_END_TIME, or else by squeue, which is asked for five
/// seconds at most. Nothing outside, without a limit, and without an answer. Local.
std::optional<Seconds> time_left_in_allocation();

/// What squeue says: "1-02:03:04", "02:03:04", "03:04". Nothing for other words ("UNLIMITED"). Pure.
std::optional<Seconds> parse_slurm_time(std::string_view text);

/// How long before its end a job is asked to leave that may run for `limit`: a minute, or a tenth of a short limit.
/// Pure.
Seconds usual_margin(Seconds limit);

}  // namespace mend::jobs
