// Whether an exception would be caught.
//
// A destructor, and every other noexcept function, ends the process when an exception leaves it (std::terminate). Code
// that is called from anywhere, such as an MPI error handler, cannot know from the language whether it runs inside of
// one. The unwinder knows: before it unwinds anything, it looks for a handler, and finds either a catch clause or a
// frame that terminates. This asks it for that, and throws nothing.
//
// It costs some microseconds, and is meant for the moment at which something has failed.

#pragma once

#include "base/error.hpp"

namespace mend {

/// Whether `error` could be thrown here: false if that would end the process because the exception would leave a
/// noexcept function. True as well where that cannot be found out: with a C++ runtime other than GCC's, and for
/// noexcept functions that Clang has translated, or that catch other exceptions around the call. Local.
bool is_catchable(const ProcessFailure& error);
bool is_catchable(const EnvironmentError& error);
bool is_catchable(const UsageError& error);

}  // namespace mend
