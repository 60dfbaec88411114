// Calls of the MPI library's wrappers for Fortran, as far as they differ from those of a program in C.

#pragma once

#include "framework/local_rollback/logged_calls.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <string_view>

namespace mend {

/// Returns true if `caller`, a return address, is in the library's wrappers for Fortran. Local.
inline bool is_in_fortran_wrapper(const void* caller) {
  Dl_info found{};
  if (::dladdr(caller, &found) == 0 || found.dli_fname == nullptr) return false;
  const std::string_view file = found.dli_fname;
  return file.find("libmpi_mpifh") != std::string_view::npos || file.find("libmpi_usempi") != std::string_view::npos;
}

/// Refuses `call` if a wrapper for Fortran makes it, and returns MPI's code; otherwise returns nothing. The wrappers of
/// calls with arrays of counts or datatypes write into the request as if the library had made it, and beyond the end of
/// the one that logged messages have. They look at the request whatever the call returns, so it becomes a null one.
inline std::optional<int> refuse_in_fortran(const LoggedCalls& logged, const char* call, const void* caller,
                                            MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  if (!is_in_fortran_wrapper(caller)) return std::nullopt;
  return logged.refuse((std::string(call) + " in Fortran").c_str());
}

/// Returns true if the wrapper of this persistent call does so. Pure.
constexpr bool keeps_arrays(std::string_view call) {
  return call.ends_with("v_init") || call.ends_with("w_init") || call == "MPI_Reduce_scatter_init";
}

}  // namespace mend
