#pragma once

#include <string_view>

namespace mend {

/// What stops this process in mend's own work, and no other, is its death to the others, who go on without it: were it
/// to throw, or to leave MPI in good order, they would wait for it. Says why. Local.
[[noreturn]] void fail_stop(std::string_view why);

}  // namespace mend
