// Turns an error of one process in mend's own work into the death of that process, from which the others recover.
//
// The others wait for this process, in an agreement or in MPI. If this process threw, or left MPI in good order, they
// would wait for ever, because its control thread still answers for it.

#pragma once

#include "base/error.hpp"

#include <exception>
#include <string>
#include <string_view>

namespace mend {

/// Prints why this process cannot continue, and ends it by SIGKILL. If the end of the job is decided, or is being
/// decided while this process is about to learn of it, no process recovers from that: this is reported to the launcher,
/// and the job fails. Local.
[[noreturn]] void fail_stop(std::string_view why) noexcept;

/// Ends the whole job, with exit code 2, for a mistake of the program after which this process can neither recover nor
/// agree with the others on the end. The launcher prints `why`, so that one sentence is printed if several processes
/// call this. Without a launcher, this process prints it, and ends. Local.
[[noreturn]] void stop_job(const std::string& why) noexcept;

/// Returns the result of `work`. Lets a CommonError pass, because every process has it; any other exception ends this
/// process. Local.
template <class Work>
auto or_fail_stop(Work work) {
  try {
    return work();
  } catch (const CommonError&) {
    throw;
  } catch (const std::exception& error) {
    fail_stop(error.what());
  }
}

}  // namespace mend
