// What Fenix throws.

#pragma once

#include <mpi.h>

#include <exception>
#include <string>
#include <utility>

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

/// Thrown by functions of namespace fenix that fail.
struct RuntimeException : std::exception {
  RuntimeException(int code, std::string sentence) : error(code), sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }
  operator int() const { return error; }

  const int error;  ///< the code that the function for C returns

 private:
  std::string sentence_;
};

}  // namespace fenix

namespace Fenix {
using ::fenix::CommException;
}
