#pragma once

#include <dlfcn.h>

namespace mend {

/// Returns the function of the MPI library, or of the system, that mend replaces by its own. Local.
template <class Function>
Function of_the_library(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace mend
