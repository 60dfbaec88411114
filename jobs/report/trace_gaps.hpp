// Finds gaps in the traces of a job: missing traces of processes, a missing end, or traces of several jobs in one
// folder. Pure.

#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace mend::jobs {

/// Returns sentences about gaps in the raw events of all traces of a job, as read_trace() returns them. Empty for the
/// complete traces of one job. The number of processes of a launch comes from the traces that contain it, or from the
/// processes that they name.
std::vector<std::string> gaps_in(const nlohmann::json& events);

}  // namespace mend::jobs
