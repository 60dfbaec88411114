// How the functions of namespace fenix come back: with a code, or with an exception.

#pragma once

#include "fenix/fenix.h"

#include <fmt/format.h>

namespace mend::fenix {

/// Throws RuntimeException for errors. A warning is returned, and so is that a failure came first
/// (FENIX_RESUME_RETURN).
inline int require(int code, const char* function) {
  if (code < 0 && code != FENIX_ERROR_CANCELLED)
    throw ::fenix::RuntimeException(code, fmt::format("{} ended with Fenix's error {}", function, code));
  return code;
}

}  // namespace mend::fenix
