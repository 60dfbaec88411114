// The reports of a job's processes in its status file (base/telemetry/job_status.hpp).

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mend::jobs {

/// A process that has exited before it reached the point where the others wait for it.
struct Skipped {
  int exit_code = 0;
  pid_t parent = 0;
};

/// A process that a signal has ended by its own fault before the job had begun.
struct EarlyCrash {
  int signal = 0;
  int process = 0;  ///< its number in the job

  bool operator==(const EarlyCrash&) const = default;
};

/// The state of a process of this machine, by its own reports.
struct Stage {
  bool later = false;  ///< the job has started it in a recovery
  bool introduced = false;
  bool at_end = false;  ///< its detection has ended, or it has finished
  bool closed = false;
  bool left = false;            ///< it is exiting
  std::optional<int> number{};  ///< in the job, set when it is at the end
  std::optional<int> rank{};

  /// "process 1 (rank 1)".
  std::string name() const;
};

/// The reports of the processes of one job, counted.
struct Reports {
  int loaded = 0;
  int started = 0;
  int running = 0;
  int introduced = 0;  ///< without those that the job has started in a recovery
  int left = 0;
  int quit = 0;
  std::set<int> quit_with{};       ///< the exit codes of the processes that quit
  std::vector<Skipped> skipped{};  ///< the processes that quit before they came to mend::run or MPI_Init
  int unseen = 0;
  int unwatched = 0;
  int finishers = 0;
  std::optional<int> finished;  ///< the first exit code reported as agreed
  /// Different exit codes that were reported later: by processes that were declared dead and then woke up alone, after
  /// the end of the job.
  std::set<int> too_late{};
  /// The exit code of a process that had finished, if it was neither 0 nor the code that the process had reported.
  std::optional<int> error_afterwards{};
  std::optional<int> crashed_afterwards{};  ///< the signal that ended a process by its own fault after it had finished
  std::vector<EarlyCrash> early_crashes{};
  int erred = 0;                 ///< processes with an error in mend's part when the end was decided, or after
  std::optional<int> aborted{};  ///< the code of the first process that has called MPI_Abort, or ended the job like it
  std::string why_aborted{};     ///< the reason that this process has given; empty for MPI_Abort
  bool said = false;             ///< a process has printed why the job does not begin, or why it ends
  std::string reason{};          ///< that reason, as the first has told it
  std::string unsaid{};          ///< that reason, from processes that left the message to another one
  std::map<pid_t, Stage> stages{};  ///< of the processes on this machine
  std::size_t lines = 0;            ///< reports of any kind

  /// Returns a skipped process that `launcher` has started directly. Processes that a user's script runs before the
  /// program do not count.
  const Skipped* skipped_by_child_of(pid_t launcher) const;

  /// Returns the processes of this machine that had left mend's part and did not exit. If the job is over, they were
  /// killed.
  std::vector<pid_t> not_left() const;
  /// "process 1 (rank 1), process 2 (rank 0)", or "12 processes" if there are many. Only for this machine.
  std::string names_of(const std::vector<pid_t>& processes) const;

  /// Returns true if any process has come to mend::run.
  bool has_begun() const { return started > 0; }

  /// Returns true if the reports cover all `processes`, so that mpirun's exit code is not needed.
  bool tell_all(int processes) const { return started >= processes && left >= finishers; }

  /// Returns true if mpirun waits without end: all processes that finished here have exited, and some processes are
  /// dead without mpirun's knowledge because their machine was cut off.
  bool waits_for_the_lost() const { return unseen > 0 && finishers > 0 && left >= finishers; }
};

/// Reads the present content of the status file, and skips invalid lines. `machine`: the name of this machine. Local.
Reports read_reports(const std::filesystem::path& status_file, const std::string& machine);
Reports read_reports(std::istream& lines, const std::string& machine);

}  // namespace mend::jobs
