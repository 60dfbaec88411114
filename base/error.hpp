#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace mend {

/// The caller made a mistake. The text says what to do instead.
class UsageError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The same mistake, as seen by the other ranks of a collective call. `rank` made it, and the text begins with that
/// rank. The call fails on all ranks with the same exit code.
class UsageErrorOfRank : public UsageError {
 public:
  UsageErrorOfRank(int rank, const std::string& text) : UsageError("rank " + std::to_string(rank) + ": " + text) {}
};

/// The machine or a library failed in a way that recovery cannot repair, for instance a full disk, or an MPI error that
/// is not a process failure.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An error that every living process has, because an agreement preceded it. It ends the job in good order. Any other
/// error in mend's own work belongs to one process, and ends that process (base/death/fail_stop.hpp).
class CommonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Committed data cannot be restored: too many ranks that held a copy are dead, or every copy is damaged. The text
/// names the ranks and the version. Thrown on every rank.
class DataLoss : public CommonError {
 public:
  using CommonError::CommonError;
};

/// No process is left to take over the ranks of dead processes. The text names the dead processes, and says how to
/// prevent it next time.
class Unrecoverable : public CommonError {
 public:
  using CommonError::CommonError;
};

/// A process died, or another rank learned of a death and interrupted this one. It is the only exception that recovery
/// catches: let it pass through your code.
class ProcessFailure : public std::exception {
 public:
  /// `where`: the call that noticed the failure, for the log.
  explicit ProcessFailure(std::string where) : where_(std::move(where)) {}
  const char* what() const noexcept override { return where_.c_str(); }

 private:
  std::string where_;
};

/// The result of `mend::run`, and the exit code of `mend run`.
enum class ExitCode : int {
  ok = 0,
  failed = 1,         ///< the application's own error
  usage = 2,          ///< wrong arguments
  unrecoverable = 3,  ///< spares exhausted or data lost
  left_in_time = 4,   ///< the job was asked to leave, and has done so; its next launch continues it
};

}  // namespace mend
