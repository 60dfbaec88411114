// Man pages, generated from the command line's own description.

#pragma once

#include "jobs/manual/description.hpp"

#include <string>

namespace mend::jobs {

/// The man page (section 1) of `mend` or of one of its commands, in roff. `name`: "mend", or "mend-run". Pure.
std::string man_page(const Description& command, const std::string& name, const std::string& version);

}  // namespace mend::jobs
