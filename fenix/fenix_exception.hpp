// What Fenix throws.

#pragma once

#include <mpi.h>

#include <exception>
#include <string>
#include <utility>

namespace fenix {

/// A failure that has been recovered from: with FENIX_RESUME_THROW, out of the MPI call or the function that met it.
struct CommException : std::exception {
  CommException(MPI_Comm comm, int fenix_error, int mpi_error = MPI_ERR_UNKNOWN)
      : repaired_comm(comm), fenix_err(fenix_error), mpi_err(mpi_error) {}
  const char* what() const noexcept override { return "a process failed, and the communicator has been repaired"; }

  MPI_Comm repaired_comm;
  const int fenix_err;  ///< FENIX_SUCCESS, or FENIX_WARNING_SPARE_RANKS_DEPLETED
  const int mpi_err;    ///< what the MPI call met
};

/// A function of namespace fenix that cannot do what it was asked for: `error` is what the function for C returns.
struct RuntimeException : std::exception {
  RuntimeException(int code, std::string sentence) : error(code), sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }
  operator int() const { return error; }

  const int error;

 private:
  std::string sentence_;
};

}  // namespace fenix

namespace Fenix {
using ::fenix::CommException;
}
