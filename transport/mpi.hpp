// MPI handles with owners, and exceptions for MPI's return codes.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <functional>
#include <string>
#include <optional>
#include <utility>
#include <vector>

namespace mend {

/// What a return code means for mend.
enum class MpiOutcome {
  success,
  failure,  ///< a process died, or the communicator was revoked because one did
  error,    ///< anything else
};
MpiOutcome outcome_of(int code);

/// Whether the code does not say what has happened. A call that begins when the library knows of a death already, or on
/// a revoked communicator, may end with such an error.
bool is_unspecific(int code);

/// Whether `code` of a call on `comm` means that a process died, also where it does not say so itself. Local.
bool means_failure(MPI_Comm comm, int code);

/// The text of a code, from MPI_Error_string.
std::string mpi_text(int code);

/// Throws ProcessFailure or EnvironmentError unless `code` is success. `where`: the call, for the message.
void check_mpi(int code, const char* where);

/// Makes MPI's errors on `comm` surface as check_mpi's exceptions, thrown out of the MPI call itself (which Open
/// MPI bears: see docs/open-mpi.md), so that plain MPI code needs no checks. Communicators derived from `comm`
/// inherit this. Where the exception would end the process, because it would leave a destructor or another noexcept
/// function, the call returns its code instead. The next call then throws: of a process failure, because everyone is
/// interrupted; of another error, in throw_noted_error().
void throw_errors_of(MPI_Comm comm);

/// What throw_errors_of has MPI do with an error `code` of a call on `comm`. Main thread only.
void handle_error(MPI_Comm comm, int code);

/// Throws EnvironmentError if an error that was no process failure could not be thrown where it was met, once for each.
/// Main thread only. Local.
void throw_noted_error();

/// The first error that was certainly no process failure and that a call has returned to code that no exception may
/// pass through (OnError::tells_and_returns), as a sentence; none if there was none since it was forgotten. Main thread
/// only. Local.
const std::optional<std::string>& returned_error();
/// The program has looked at it, or begins anew. Main thread only. Local.
void forget_returned_error();

/// Calls `listener` whenever an MPI call under throw_errors_of meets a process failure, before the exception is thrown:
/// the earliest moment to interrupt the others. An empty function ends that. `listener` must not throw. Main thread
/// only.
void on_process_failure(std::function<void()> listener);

/// `comm` belongs to an epoch that is over. What is left of it, for example a request that the application waits for,
/// ends with MPI's error, which is not reported. A blocking call on it throws UsageError. Local.
void take_for_outdated(MPI_Comm comm);
/// `comm` is new, and may have the handle of an old one. throw_errors_of calls this. Local.
void take_for_new(MPI_Comm comm);

/// What communicators under throw_errors_of do with an error.
enum class OnError {
  throws,             ///< the default
  returns,            ///< the call returns its code, and the listener is not told
  tells_and_returns,  ///< for code that no exception may pass through
  hands_over,         ///< to the receiver of hand_errors_to, and returns if that does
};

/// Handles errors in this way during its lifetime. May be nested. Main thread only.
class ErrorsHandled {
 public:
  explicit ErrorsHandled(OnError how);
  ~ErrorsHandled();
  ErrorsHandled(const ErrorsHandled&) = delete;
  ErrorsHandled& operator=(const ErrorsHandled&) = delete;

 private:
  OnError before_;
};

/// Whether an error of an MPI call is thrown now, and may be: not on the way of another exception. Main thread only.
bool errors_are_thrown();
/// Whether an error of an MPI call is returned, and nothing else. Main thread only.
bool errors_are_returned();

/// Who is handed an error: in which communicator, with what code, and whether a process failure was met. May throw, or
/// longjmp: there is nothing to destroy between it and the MPI call.
using ErrorReceiver = void (*)(MPI_Comm comm, int code, bool failure);

/// From now on `receiver` deals with errors, wherever no ErrorsHandled says otherwise; nullptr: they are thrown again.
/// Not to be called while an ErrorsHandled lives. Main thread only.
void hand_errors_to(ErrorReceiver receiver);

/// For destructors, and for code that examines the return code.
class ErrorsReturned : ErrorsHandled {
 public:
  ErrorsReturned() : ErrorsHandled(OnError::returns) {}
};

/// Owns a communicator and frees it. Freeing is local in effect: safe while others are dead.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(MPI_Comm comm) : comm_(comm) {}
  ~Communicator() { reset(); }
  Communicator(Communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  Communicator& operator=(Communicator&& other) noexcept {
    if (this != &other) {
      reset();
      comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
    }
    return *this;
  }

  MPI_Comm get() const { return comm_; }
  explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
  int rank() const;
  int size() const;
  void reset();
  MPI_Comm release() { return std::exchange(comm_, MPI_COMM_NULL); }  ///< owns it no more

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The processes of the launch, by their rank in MPI_COMM_WORLD: 0, 1, 2, ... Local.
std::vector<ProcessId> launched_processes();

/// The processes of `comm`, by rank. `processes`: those of `whole`, by rank, which must contain all of `comm`. Local.
std::vector<ProcessId> members_of(MPI_Comm comm, MPI_Comm whole, const std::vector<ProcessId>& processes);

/// Interrupts every process of `comm` that is blocked in it (MPIX_Comm_revoke). Local call, effect everywhere.
void revoke(MPI_Comm comm);
bool is_revoked(MPI_Comm comm);

}  // namespace mend
