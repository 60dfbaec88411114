#include "transport/mpi.hpp"

#include "base/death/catchable.hpp"
#include "base/telemetry/activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

namespace mend {
namespace {

/// The state of MPI's error handlers, which are given only a communicator and a code.
struct ErrorHandling {
  ErrorReceiver receiver = nullptr;
  std::function<void()> failure_listener;
  std::optional<std::string> noted;       // an error that could not be thrown where it was met
  std::optional<ReturnedError> returned;  // an error that was returned to the program as a code
  std::vector<MPI_Comm> outdated;
  MPI_Errhandler throwing = MPI_ERRHANDLER_NULL;
};

ErrorHandling& handling() {
  static ErrorHandling instance;
  return instance;
}

/// A communicator that the application has made itself may have the handle of an old one, but is not revoked.
bool is_outdated(MPI_Comm comm) {
  const bool listed =
      std::find(handling().outdated.begin(), handling().outdated.end(), comm) != handling().outdated.end();
  return listed && is_revoked(comm);
}

bool has_dead_members(MPI_Comm comm) {
  MPI_Group dead = MPI_GROUP_NULL;
  int count = 0;
  if (MPIX_Comm_get_failed(comm, &dead) != MPI_SUCCESS) return false;
  MPI_Group_size(dead, &count);
  MPI_Group_free(&dead);
  return count > 0;
}

int class_of(int code) {
  int error_class = MPI_ERR_UNKNOWN;
  PMPI_Error_class(code, &error_class);
  return error_class;
}

const char* hint_at(int code) {
  if (class_of(code) != MPI_ERR_COMM) return "";
  return " (session.comm() is another communicator after each recovery: ask for it again, and make again what derives "
         "from it)";
}

std::string describe_error(int code) { return fmt::format("an MPI call failed: {}{}", mpi_text(code), hint_at(code)); }

/// Throws the error, unless that would end the process, for example in a destructor at the ordinary end of its scope.
/// In that case the call returns its code. A failure need not be noted: the listener has interrupted all ranks, so the
/// next call throws it.
void throw_or_note(int code, bool failure) {
  if (failure) {
    const ProcessFailure error(fmt::format("an MPI call: {}", mpi_text(code)));
    if (is_catchable(error)) throw error;
    return;
  }
  const EnvironmentError error(describe_error(code));
  if (is_catchable(error)) throw error;
  handling().noted = fmt::format("{} (in a destructor, or another function that must not throw)", error.what());
}

/// The application may wait for a request of an old communicator; the request ends with an error. No other call on an
/// old communicator may begin.
void refuse_outdated() {
  if (!uses_communicator(current_activity().call) || std::uncaught_exceptions() > 0) return;
  const UsageError error(
      "an MPI call used a communicator of before a recovery: ask session.comm() for the present one, and make again "
      "what derives from it");
  if (is_catchable(error)) throw error;
}

void on_error(MPI_Comm* comm, int* code, ...) { handle_error(*comm, *code); }

MPI_Errhandler throwing_handler() {
  MPI_Errhandler& handler = handling().throwing;
  if (handler == MPI_ERRHANDLER_NULL) MPI_Comm_create_errhandler(&on_error, &handler);
  return handler;
}

}  // namespace

bool is_mpi_initialised() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  return initialised != 0;
}

bool is_mpi_finalised() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  return finalised != 0;
}

MpiOutcome outcome_of(int code) {
  if (code == MPI_SUCCESS) return MpiOutcome::success;
  const int error_class = class_of(code);
  const bool is_failure = error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
                          error_class == MPIX_ERR_REVOKED || error_class == MPI_ERR_PROC_ABORTED;
  return is_failure ? MpiOutcome::failure : MpiOutcome::error;
}

bool is_unspecific(int code) {
  const int error_class = class_of(code);
  return error_class == MPI_ERR_OTHER || error_class == MPI_ERR_INTERN || error_class == MPI_ERR_UNKNOWN ||
         error_class == MPI_ERR_IN_STATUS;
}

bool means_failure(MPI_Comm comm, int code) {
  const ErrorsReturned quiet;
  return outcome_of(code) == MpiOutcome::failure ||
         (is_unspecific(code) && (is_revoked(comm) || has_dead_members(comm)));
}

std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

void check_mpi(int code, const char* where) {
  switch (outcome_of(code)) {
    case MpiOutcome::success: return;
    case MpiOutcome::failure: throw ProcessFailure(fmt::format("{}: {}", where, mpi_text(code)));
    case MpiOutcome::error: throw EnvironmentError(fmt::format("{} failed: {}", where, mpi_text(code)));
  }
}

void check_mpi(int code, const char* where, MPI_Comm comm) {
  if (code != MPI_SUCCESS && means_failure(comm, code))
    throw ProcessFailure(fmt::format("{}: {}", where, mpi_text(code)));
  check_mpi(code, where);
}

void handle_error(MPI_Comm comm, int code) {
  const OnError how = ErrorsHandled::now();
  if (how == OnError::returns) return;
  if (is_outdated(comm)) return how == OnError::throws ? refuse_outdated() : void();
  const bool failure = means_failure(comm, code);
  {
    const ErrorsReturned quiet;
    if (failure && handling().failure_listener) handling().failure_listener();
  }
  if (how == OnError::tells_and_returns) {
    const bool may_be_failure = failure || is_unspecific(code);  // it may stem from a death that is not known yet
    if (!may_be_failure && !handling().returned) handling().returned = ReturnedError{code, describe_error(code)};
    return;
  }
  if (how == OnError::hands_over) return handling().receiver(comm, code, failure);
  // The call is in a destructor, during stack unwinding: a second exception would end the process.
  if (std::uncaught_exceptions() > 0) return;
  throw_or_note(code, failure);
}

void throw_errors_of(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, throwing_handler());
  take_for_new(comm);
}

bool handles_errors_of(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || handling().throwing == MPI_ERRHANDLER_NULL) return false;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool is_ours = handler == handling().throwing;
  PMPI_Errhandler_free(&handler);  // the communicator still has it
  return is_ours;
}

void take_for_outdated(MPI_Comm comm) {
  take_for_new(comm);
  handling().outdated.push_back(comm);
}

void take_for_new(MPI_Comm comm) { std::erase(handling().outdated, comm); }

void throw_noted_error() {
  if (const auto error = std::exchange(handling().noted, std::nullopt)) throw EnvironmentError(*error);
}

const std::optional<ReturnedError>& returned_error() { return handling().returned; }

void forget_returned_error() { handling().returned.reset(); }

void on_process_failure(std::function<void()> listener) { handling().failure_listener = std::move(listener); }

bool errors_are_returned() { return ErrorsHandled::now() == OnError::returns; }

void hand_errors_to(ErrorReceiver receiver) {
  handling().receiver = receiver;
  ErrorsHandled::now_ = receiver == nullptr ? OnError::throws : OnError::hands_over;
}

bool errors_are_thrown() { return ErrorsHandled::now() == OnError::throws && std::uncaught_exceptions() == 0; }

int Communicator::rank() const {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  return rank;
}

int Communicator::size() const {
  int size = 0;
  MPI_Comm_size(comm_, &size);
  return size;
}

namespace {
thread_local bool frees_own = false;
}

bool frees_own_communicator() { return frees_own; }

void Communicator::reset() {
  if (comm_ == MPI_COMM_NULL) return;
  const ErrorsReturned quiet;
  const bool before = std::exchange(frees_own, true);
  PMPI_Comm_free(&comm_);
  frees_own = before;
  comm_ = MPI_COMM_NULL;
}

std::vector<ProcessId> launched_processes() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<ProcessId> processes;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(size); ++i) processes.push_back({i});
  return processes;
}

std::vector<ProcessId> members_of(MPI_Comm comm, MPI_Comm whole, const std::vector<ProcessId>& processes) {
  MPI_Group part = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &part);
  MPI_Comm_group(whole, &all);
  int size = 0;
  MPI_Group_size(part, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> ranks_in_whole(ranks.size());
  MPI_Group_translate_ranks(part, size, ranks.data(), all, ranks_in_whole.data());
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  std::vector<ProcessId> members;
  for (int rank : ranks_in_whole) members.push_back(processes[static_cast<std::size_t>(rank)]);
  return members;
}

void revoke(MPI_Comm comm) {
  const ErrorsReturned quiet;
  MPIX_Comm_revoke(comm);
}

bool is_revoked(MPI_Comm comm) {
  int revoked = 0;
  MPIX_Comm_is_revoked(comm, &revoked);
  return revoked != 0;
}

}  // namespace mend
