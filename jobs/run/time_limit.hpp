// The time limit of a job: the user's, or that of the batch system's allocation.

#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string_view>

namespace mend::jobs {

/// Returns the remaining time inside a job of Slurm, from SLURM_JOB_END_TIME, or otherwise from squeue, which has five
/// seconds to answer. Returns nothing outside of Slurm, without a limit, or without an answer. Local.
std::optional<Seconds> time_left_in_allocation();

/// Parses squeue's format: "1-02:03:04", "02:03:04", "03:04". Returns nothing for other words ("UNLIMITED"). Pure.
std::optional<Seconds> parse_slurm_time(std::string_view text);

/// Returns how long before its end a job with the limit `limit` is asked to leave: a minute, or a tenth of a short
/// limit. Pure.
Seconds usual_margin(Seconds limit);

}  // namespace mend::jobs
