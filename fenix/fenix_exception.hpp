// The exceptions of Fenix.

#pragma once

#include <mpi.h>

#include <exception>
#include <string>
#if __cplusplus >= 201703L
#include <string_view>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_source_location
#include <source_location>
#endif
#endif

namespace fenix {

/// A failure from which the job has recovered. With FENIX_RESUME_THROW, the interrupted MPI call or function throws it.
struct CommException : std::exception {
  CommException(MPI_Comm comm, int fenix_error, int mpi_error = MPI_ERR_UNKNOWN)
      : repaired_comm(comm), fenix_err(fenix_error), mpi_err(mpi_error) {}
  const char* what() const noexcept override { return "a process failed, and the communicator has been repaired"; }

  MPI_Comm repaired_comm;  ///< the resilient communicator after the recovery
  const int fenix_err;     ///< FENIX_SUCCESS or FENIX_WARNING_SPARE_RANKS_DEPLETED
  const int mpi_err;       ///< the error code of the interrupted MPI call
};

#if __cplusplus >= 201703L

/// Thrown by functions of namespace fenix that fail.
struct RuntimeException : std::exception {
#ifdef __cpp_lib_source_location
  using Location = std::source_location;
#else  // Before C++20 a pointer stands for it. std::source_location is one, so exceptions of the library can be caught
       // there too.
  using Location = const void*;
#endif

  RuntimeException(int code, std::string_view name, std::string sentence, Location where);
  /// Returns a sentence that names the function and the code.
  const char* what() const noexcept override { return sentence_.c_str(); }
  /// Returns what() after the file, line and function of `location`, indented by 2 * `depth` blanks.
  std::string to_string(int depth = 0) const;
  operator int() const { return error; }

  const int error;                      ///< the code that the function for C returns
  const std::string_view error_string;  ///< the code's name, for instance "FENIX_ERROR_INVALID_GROUPID"
  const Location location;              ///< where in the library it was thrown

 private:
  std::string sentence_;
};

#endif

}  // namespace fenix

namespace Fenix {
using ::fenix::CommException;
}
