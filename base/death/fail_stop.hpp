// An error of one process in mend's own work is its death to the others, who recover from it.
//
// The others wait for this process, in an agreement or in MPI: were it to throw, or to leave MPI in good order, they
// would wait for ever while its control thread still answers for it.

#pragma once

#include "base/error.hpp"

#include <exception>
#include <string_view>

namespace mend {

/// Says why this process cannot go on, and ends it by SIGKILL. After the end of the job is decided, nobody recovers
/// from that: then the launcher is told, and the job fails. Local.
[[noreturn]] void fail_stop(std::string_view why) noexcept;

/// Returns what `work` returns. A CommonError leaves it, for all processes have that; any other exception ends this
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
