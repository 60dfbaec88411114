// Owning MPI handles, and turning MPI's return codes into C++ errors.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mend {

/// What a return code is to mend.
enum class MpiOutcome {
  success,
  failure,  ///< a process died, or the communicator was revoked because one did
  error,    ///< anything else
};
MpiOutcome outcome_of(int code);

/// MPI's own words for a code.
std::string mpi_text(int code);

/// Throws ProcessFailure or EnvironmentError unless `code` is success. `where`: the call, for the message.
void check_mpi(int code, const char* where);

/// Makes MPI's errors on `comm` surface as check_mpi's exceptions, thrown out of the MPI call itself (which Open
/// MPI bears: see docs/open-mpi.md), so that plain MPI code needs no checks. Communicators derived from `comm`
/// inherit this. Where the exception would end the process, because it would leave a destructor or another noexcept
/// function, the call returns its code instead. The next call then throws: of a process failure, because everyone is
/// interrupted; of another error, in throw_noted_error().
void throw_errors_of(MPI_Comm comm);

/// Throws EnvironmentError if an error that was no process failure could not be thrown where it was met, once for each.
/// Main thread only. Local.
void throw_noted_error();

/// Has `listener` called, before the exception is thrown, whenever an MPI call under throw_errors_of meets a process
/// failure: the earliest moment to interrupt everyone else. An empty one stops that. Main thread only; it must not
/// throw.
void on_process_failure(std::function<void()> listener);

/// `comm` is of an epoch that is over: what is left of it, such as a request that the application waits for, ends with
/// MPI's error and is no news. Local.
void take_for_outdated(MPI_Comm comm);
/// It is a new one, which may have an old one's handle. throw_errors_of does this. Local.
void take_for_new(MPI_Comm comm);

/// What communicators under throw_errors_of do with an error.
enum class OnError {
  throws,             ///< as they do when nothing is said
  returns,            ///< the call returns its code, and the listener is not told
  tells_and_returns,  ///< for code that no exception may pass through
  hands_over,         ///< to the receiver of hand_errors_to, and returns if that does
};

/// While it lives, errors are dealt with in this way. Main thread only; may be nested.
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

/// Who is handed an error: in which communicator, with what code, and whether a process failure was met. May throw, or
/// longjmp: there is nothing to destroy between it and the MPI call.
using ErrorReceiver = void (*)(MPI_Comm comm, int code, bool failure);

/// From now on `receiver` deals with errors, wherever no ErrorsHandled says otherwise; nullptr: they are thrown again.
/// Not to be called while an ErrorsHandled lives. Main thread only.
void hand_errors_to(ErrorReceiver receiver);

/// For destructors, and for code that wants to look at the code.
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

/// Which processes `comm` holds, by rank, given that those of `whole` are `processes`. All of `comm`'s must be in
/// `whole`. Local.
std::vector<ProcessId> members_of(MPI_Comm comm, MPI_Comm whole, const std::vector<ProcessId>& processes);

/// Tells every process of `comm` to leave the calls it is blocked in. Local call, effect everywhere.
void revoke(MPI_Comm comm);
bool is_revoked(MPI_Comm comm);

}  // namespace mend
