// A plan as a picture (SVG): the cost of commit intervals, and the benefit of spares.

#pragma once

#include "jobs/plan/model.hpp"

#include <string>

namespace mend::jobs {

/// Two diagrams side by side: the overhead against the commit interval, and the probability of running out of spares
/// against the number of spare nodes. The planned values are marked. A complete SVG document. Pure.
std::string picture_of(const Scenario& scenario, const Forecast& planned);

}  // namespace mend::jobs
