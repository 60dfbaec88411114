// What is missing in the traces of a job: those of some processes, its end, or a folder of their own. Pure.

#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace mend::jobs {

/// Sentences on what the raw events of all traces of a job, as read_trace() returns them, lack. Empty for the traces of
/// one whole job. How many processes a launch has had is known from the traces that say it, or by the processes that
/// they name.
std::vector<std::string> gaps_in(const nlohmann::json& events);

}  // namespace mend::jobs
