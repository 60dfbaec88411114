// The answer of the batch system about the job that this process runs in.

#pragma once

#include <string>

namespace mend::jobs {

/// Returns what a command of the batch system prints, such as "squeue --noheader". It is asked for five seconds at
/// most. Empty without an answer. `command` is a shell's line: quote what may be anything. Local.
std::string scheduler_answer(const std::string& command);

}  // namespace mend::jobs
