// Finds out whether an exception would be caught.
//
// A destructor, or any other noexcept function, ends the process when an exception leaves it (std::terminate). Code
// that is called from anywhere, such as an MPI error handler, cannot know from the language whether it runs inside a
// function of this kind. The unwinder knows: before it unwinds anything, it searches for a handler, and finds either a
// catch clause or a frame that terminates. This code runs that search without throwing.
//
// A call takes some microseconds. It is meant to be made only after a failure.

#pragma once

#include "base/error.hpp"

namespace mend {

/// Returns false if throwing `error` here would end the process, because the exception would leave a noexcept function.
/// Returns true also where this cannot be found out: with a C++ runtime other than GCC's, and for noexcept functions
/// that are compiled by Clang or that catch other exceptions around the call. Local.
bool is_catchable(const ProcessFailure& error);
bool is_catchable(const EnvironmentError& error);
bool is_catchable(const UsageError& error);

}  // namespace mend
