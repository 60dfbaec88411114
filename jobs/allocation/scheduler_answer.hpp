// The answer of the batch system about the job that this process runs in.

#pragma once

#include <string>

namespace mend::jobs {

/// Returns the output of a command of the batch system, for example "squeue --noheader". Waits five seconds at most.
/// Empty without an answer. `command` is a line for a shell: quote words that may contain any character. Local.
std::string scheduler_answer(const std::string& command);

}  // namespace mend::jobs
