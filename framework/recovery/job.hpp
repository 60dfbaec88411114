// The part of one process in a job, from the start of MPI to its end. mend::run uses it, and so do interfaces that have
// no body to give to the engine.

#pragma once

#include "framework/recovery/engine.hpp"
#include "framework/recovery/leave_job.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/options.hpp"
#include "framework/process/failure_detector.hpp"

#include <exception>
#include <optional>
#include <string>

namespace mend {

class Job {
 public:
  /// Starts MPI unless the application has, meets the other processes, and makes the communicators of the first epoch.
  /// If there is an error, it is reported here, and refused() returns the exit code. Collective over all processes
  /// launched.
  explicit Job(const Options& options);

  /// Returns the exit code, if the job was refused. Also set, to success, after --mend-help, and in a process that the
  /// job has started later and does not need.
  std::optional<ExitCode> refused() const { return refused_; }
  /// Must not be called if the job is refused or closed.
  Engine& engine() { return *engine_; }

  /// Runs `body` on every rank, and closes the job. Returns the exit code. If the job is refused, returns at once.
  ExitCode play(const Body& body);

  /// Reports the end of the job to the launcher and the log, and frees the communicators. Every living process calls it
  /// when the engine has ended. Returns `code`. Local.
  ExitCode close(ExitCode code);

  /// Returns true if MPI must be left by leave_mpi_alone(), because processes have died. Known when the job is closed;
  /// the same on all living processes.
  bool leaves_mpi_alone() const { return has_lost_; }
  /// Waits until the processes of `comm` that are not gone have called this, too. Call it when the job is closed.
  /// Collective over the living processes of `comm`.
  void wait_for_the_others(MPI_Comm comm) { mend::wait_for_the_others(comm, *detector_); }

 private:
  void help();
  void refuse(const std::exception& error);
  void leave_together(const std::exception& error);
  void begin(const Options& options);
  void join(const Options& options);
  void start_trace(const Options& options);
  void report(ExitCode code);

  std::optional<FailureDetector> detector_;  // must outlive MPI
  std::optional<MpiRuntime> mpi_;
  std::optional<Engine> engine_;
  std::optional<ExitCode> refused_;
  std::string obstacle_to_trace_;
  bool has_lost_ = false;
};

/// The contribution of a process to the start of the job. The result has the bits that all contributions have.
enum class Start : int {
  go_on = 0b1001,
  go_on_untraced = 0b1101,
  refuse = 0b1010,                   ///< for a mistake of the user
  fail = 0b0010,                     ///< for an error of the machine, such as a lack of memory
  in_disagreement = 0b1000,          ///< some processes refuse
  in_disagreement_by_error = 0b0000  ///< some processes fail
};

/// All processes launched begin with this call, whether they go on or refuse to, so that none waits for a process that
/// has left. Collective over MPI_COMM_WORLD.
Start start_together(Start mine);

/// Returns the message for an error of this process alone that prevents it from beginning the job. Local.
std::string describe_failed_start(const std::exception& error);

/// Refuses to go on, and then tells the launcher that the job ends with `code`. Returns true if all refuse. Collective
/// over MPI_COMM_WORLD.
bool refuse_together(ExitCode code);

/// For a process that leaves MPI and has begun no job: the others may be beginning one. Returns true if some are.
/// Collective over MPI_COMM_WORLD.
bool others_begin_without_this();

}  // namespace mend
