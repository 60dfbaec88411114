// The results of functions of namespace fenix: a code, or an exception.

#pragma once

#include "fenix/fenix.h"

#include <source_location>
#include <string_view>

namespace mend::fenix {

/// Returns the name of a code, for instance "FENIX_ERROR_INVALID_GROUPID".
std::string_view name_of(int code);

/// Throws RuntimeException for errors. Returns warnings, and FENIX_ERROR_CANCELLED if a failure came first
/// (FENIX_RESUME_RETURN).
int require(int code, const char* function, std::source_location where = std::source_location::current());

}  // namespace mend::fenix
