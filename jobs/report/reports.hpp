// What the processes of a job say of themselves in its status file (base/telemetry/job_status.hpp).

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

/// A process that has exited without having come to where the others wait for it.
struct Skipped {
  int exit_code = 0;
  pid_t parent = 0;
};

/// A process that a signal has ended by a fault of its own before the job had begun.
struct EarlyCrash {
  int signal = 0;
  int process = 0;  ///< its number in the job

  bool operator==(const EarlyCrash&) const = default;
};

/// How far a process of this machine has come, in its own words.
struct Stage {
  bool later = false;  ///< the job has started it, in a recovery
  bool introduced = false;
  bool at_end = false;  ///< unwatched, or finished
  bool closed = false;
  bool left = false;            ///< it exits, whenever
  std::optional<int> number{};  ///< in the job, once it is at the end
  std::optional<int> rank{};

  /// "process 1 (rank 1)".
  std::string name() const;
};

/// What the processes of one job said, as counted in its status file.
struct Reports {
  int loaded = 0;
  int started = 0;
  int running = 0;
  int introduced = 0;
  int left = 0;
  int quit = 0;
  std::set<int> quit_with{};       ///< the exit codes of those
  std::vector<Skipped> skipped{};  ///< those of them that came neither to mend::run nor to MPI_Init
  int unseen = 0;
  int unwatched = 0;
  int finishers = 0;
  std::optional<int> finished;  ///< the exit code agreed on: the first reported
  /// What processes reported after that and differs: they were held dead, woke when all was over, and found themselves
  /// alone.
  std::set<int> too_late{};
  /// What processes that had finished then exited with, if that was neither 0 nor what they had reported.
  std::optional<int> error_afterwards{};
  std::optional<int> crashed_afterwards{};  ///< the signal that ended one that had finished, by a fault of its own
  std::vector<EarlyCrash> early_crashes{};
  int erred = 0;                    ///< had an error of their own in mend's part after the end was decided
  std::optional<int> aborted{};     ///< the first code that MPI_Abort was called with
  bool said = false;                ///< somebody has told the user why the job does not begin
  std::string unsaid{};             ///< that reason, as those know it who left it to another to tell
  std::map<pid_t, Stage> stages{};  ///< of the processes of this machine
  std::size_t lines = 0;            ///< reports of any kind

  /// One that `launcher` has started itself: what a script of the user's runs before the program does not count.
  const Skipped* skipped_by_child_of(pid_t launcher) const;

  /// Those of this machine that had left mend's part, and did not come to exit. When the job is over, they were killed.
  std::vector<pid_t> not_left() const;
  /// "process 1 (rank 1), process 2 (rank 0)", or "12 processes" for many. Of this machine.
  std::string names_of(const std::vector<pid_t>& processes) const;

  /// Whether any has come to mend::run.
  bool has_begun() const { return started > 0; }

  /// Whether they say of all `processes` what has become of them, so that mpirun need not be asked.
  bool tell_all(int processes) const { return started >= processes && left >= finishers; }

  /// Whether mpirun still waits though nothing will come: all that finished here have left, and some processes are dead
  /// of which it does not know, because their machine was cut off.
  bool waits_for_the_lost() const { return unseen > 0 && finishers > 0 && left >= finishers; }
};

/// The status file's content so far; lines that make no sense are passed over. `machine`: what this one is called.
/// Local.
Reports read_reports(const std::filesystem::path& status_file, const std::string& machine);
Reports read_reports(std::istream& lines, const std::string& machine);

}  // namespace mend::jobs
