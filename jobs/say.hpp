// The messages of the command to the user.

#pragma once

#include <cstdio>
#include <string>

namespace mend::jobs {

/// Writes "mend: " and the sentence to standard error, in a line. A sentence that cannot be written is lost: a full
/// disk must not end the job. (fmt::print would throw.) Local.
inline void say(const std::string& sentence) { std::fprintf(stderr, "mend: %s\n", sentence.c_str()); }

}  // namespace mend::jobs
