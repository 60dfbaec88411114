// A plan as a picture (SVG): what an interval costs, and what spares are worth.

#pragma once

#include "jobs/plan/model.hpp"

#include <string>

namespace mend::jobs {

/// Two diagrams side by side: the overhead against the commit interval, and the chance of running out against the
/// number of spare nodes; the planned values are marked. A whole SVG document. Pure.
std::string picture_of(const Scenario& scenario, const Forecast& planned);

}  // namespace mend::jobs
