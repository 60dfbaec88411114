// Owners of MPI handles, and exceptions for MPI's return codes.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/telemetry/library_wait.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <cstddef>
#include <functional>
#include <string>
#include <optional>
#include <utility>
#include <vector>

namespace mend {

/// Returns true if this process has initialised MPI, or has also finalised it. Local.
bool is_mpi_initialised();
bool is_mpi_finalised();

/// The meaning of a return code for mend.
enum class MpiOutcome {
  success,
  failure,  ///< a process died, or the communicator was revoked for that reason
  error,    ///< anything else
};
MpiOutcome outcome_of(int code);

/// Returns true if the code does not identify the cause of the error. A call may end with such a code if it begins when
/// the library already knows of a death, or on a revoked communicator; a wait for several requests always does.
bool is_unspecific(int code);

/// Returns true if `code` of a call on `comm` means that a process died, even if the code does not say so itself.
/// Local.
bool means_failure(MPI_Comm comm, int code);

/// Returns the text of a code, from MPI_Error_string.
std::string mpi_text(int code);

/// Throws ProcessFailure or EnvironmentError unless `code` is success. `where`: the call, for the message.
void check_mpi(int code, const char* where);
/// The same for a call on `comm`, whose code may not identify the cause.
void check_mpi(int code, const char* where, MPI_Comm comm);

/// Makes a call of MPI in which mend itself may wait for other processes, as check_mpi does. If the library forgets
/// this process there, its wait is seen and ended (base/telemetry/library_wait.hpp). `where`: the call, for the
/// message. `bytes`: of the largest message, if it may be a large one.
template <class Call>
void call_mpi(Call&& call, const char* where, std::size_t bytes = 0) {
  const InLibrary in_library(InLibrary::Step::other, InLibrary::time_for(bytes));
  check_mpi(call(), where);
}

/// Makes MPI's errors on `comm` surface as check_mpi's exceptions, thrown out of the MPI call itself (Open MPI
/// tolerates this: see docs/open-mpi.md), so that plain MPI code needs no checks. Communicators derived from `comm`
/// inherit this. If the exception would end the process, because it would leave a destructor or another noexcept
/// function, the call returns its code instead. A process failure is then thrown by the next call, because all ranks
/// are interrupted; another error is thrown by throw_noted_error().
void throw_errors_of(MPI_Comm comm);

/// Returns true if errors of `comm` are handled now as throw_errors_of makes them. Local.
bool handles_errors_of(MPI_Comm comm);

/// Handles an error `code` of a call on `comm`, as throw_errors_of makes MPI do. Main thread only.
void handle_error(MPI_Comm comm, int code);

/// Throws EnvironmentError if an error that was not a process failure could not be thrown where it was met; once for
/// each error. Main thread only. Local.
void throw_noted_error();

/// An error of an MPI call.
struct ReturnedError {
  int code;
  std::string sentence;
  bool operator==(const ReturnedError&) const = default;
};

/// Returns the first error that was certainly not a process failure and that a call has returned to code that
/// exceptions may not pass through (OnError::tells_and_returns). Returns nothing if there was none since
/// forget_returned_error. Main thread only. Local.
const std::optional<ReturnedError>& returned_error();
/// Call it when the program has read the error, or begins anew. Main thread only. Local.
void forget_returned_error();

/// Calls `listener` whenever an MPI call under throw_errors_of meets a process failure, before the exception is thrown:
/// the earliest moment to interrupt the others. An empty function ends that. `listener` must not throw. Main thread
/// only.
void on_process_failure(std::function<void()> listener);

/// Marks `comm` as belonging to a past epoch. An operation left on it, for example a request that the application waits
/// for, ends with MPI's error, which is not reported. A blocking call on it throws UsageError. Local.
void take_for_outdated(MPI_Comm comm);
/// Marks `comm` as new: it may have the handle of an old communicator. throw_errors_of calls this. Local.
void take_for_new(MPI_Comm comm);

/// The handling of an error on communicators under throw_errors_of.
enum class OnError {
  throws,             ///< the default
  returns,            ///< the call returns its code, and the listener is not called
  tells_and_returns,  ///< for code that exceptions may not pass through
  hands_over,         ///< the receiver of hand_errors_to is called; if it returns, the call returns
};

/// Receives an error: its communicator, its code, and whether a process failure was met. May throw, or longjmp: there
/// is nothing to destroy between it and the MPI call.
using ErrorReceiver = void (*)(MPI_Comm comm, int code, bool failure);

/// From now on, `receiver` handles errors, unless an ErrorsHandled says otherwise; with nullptr, they are thrown again.
/// Not to be called during the lifetime of an ErrorsHandled. Main thread only.
void hand_errors_to(ErrorReceiver receiver);

/// Handles errors in this way during its lifetime. May be nested. Main thread only.
class ErrorsHandled {
 public:
  explicit ErrorsHandled(OnError how) : before_(std::exchange(now_, how)) {}
  ~ErrorsHandled() { now_ = before_; }
  ErrorsHandled(const ErrorsHandled&) = delete;
  ErrorsHandled& operator=(const ErrorsHandled&) = delete;

  /// How errors are handled now.
  static OnError now() { return now_; }

 private:
  friend void hand_errors_to(ErrorReceiver receiver);

  inline static OnError now_ = OnError::throws;

  OnError before_;
};

/// Returns true if an error of an MPI call is thrown now, and may be: not during stack unwinding. Main thread only.
bool errors_are_thrown();
/// Returns true if an error of an MPI call is only returned. Main thread only.
bool errors_are_returned();

/// For destructors, and for code that checks return codes.
class ErrorsReturned : ErrorsHandled {
 public:
  ErrorsReturned() : ErrorsHandled(OnError::returns) {}
};

/// Returns true while this thread frees a communicator that a Communicator owns.
bool frees_own_communicator();

/// Owns a communicator and frees it. Freeing has only a local effect, so it is safe if other processes are dead.
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
  MPI_Comm release() { return std::exchange(comm_, MPI_COMM_NULL); }  ///< gives up the ownership

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Returns the processes of the launch, by their rank in MPI_COMM_WORLD: 0, 1, 2, ... Local.
std::vector<ProcessId> launched_processes();

/// Returns the processes of `comm`, by rank. `processes`: those of `whole`, by rank; `whole` must contain all of
/// `comm`. Local.
std::vector<ProcessId> members_of(MPI_Comm comm, MPI_Comm whole, const std::vector<ProcessId>& processes);

/// Interrupts every process that is blocked in `comm` (MPIX_Comm_revoke). The call is local, and takes effect on all
/// members.
void revoke(MPI_Comm comm);
bool is_revoked(MPI_Comm comm);

}  // namespace mend
