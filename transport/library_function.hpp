#pragma once

#include <dlfcn.h>

/// Makes MPI's function `name` the same as the function P`name` that mend defines. mend replaces the PMPI functions: C
/// calls, the library's wrappers for Fortran and tools that intercept MPI all reach them.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define MEND_SAME_AS_PMPI(name) extern "C" decltype(name) name __attribute__((weak, alias("P" #name)))

namespace mend {

/// Returns the function of the MPI library, or of the system, that mend replaces by its own. Local.
template <class Function>
Function of_the_library(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace mend
