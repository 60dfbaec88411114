// Man pages, generated from the command line's own description.

#pragma once

#include "jobs/manual/description.hpp"

#include <string>

namespace mend::jobs {

/// The man page (section 1) of `mend`, of one of its commands, or of a program, in roff. `name`: "mend", "mend-run",
/// "stencil". If the text of `command` has several sentences, those after the first become the DESCRIPTION. Pure.
std::string man_page(const Description& command, const std::string& name, const std::string& version);

}  // namespace mend::jobs
