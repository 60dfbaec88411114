// Did the application finish correctly? What mpirun says is weighed against what the processes themselves reported.
//
// mpirun's exit code says what processes that lived to exit returned, and nothing of those that were killed: it is 0
// when all were. The status file (base/job_status.hpp) closes the gap, but only for processes of this node. Hence:
//
//   - a process has called MPI_Abort: that ends the job, whatever the others do;
//   - the processes reported a common end: that counts, unless one of them then exited with an error of its own. One
//     that exits before, with whatever code, is a death among others, though mpirun returns what it did;
//   - every process of the job reported its start here, and none its end: it has not finished, whatever mpirun says;
//   - processes of the program came to life here, and none either started or exited: they were killed before that;
//   - processes started, and not all of them came through MPI_Init: what mpirun returns is the word of the MPI library,
//     which ends those that a death there has cut off;
//   - some run elsewhere, or the program does not use mend at all: mpirun's exit code is all there is.

#pragma once

#include "jobs/child.hpp"

#include <sys/types.h>

#include <filesystem>
#include <istream>
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

/// What the processes of one job said, as counted in its status file.
struct Reports {
  int loaded = 0;
  int started = 0;
  int running = 0;
  int left = 0;
  int quit = 0;
  std::set<int> quit_with{};       ///< the exit codes of those
  std::vector<Skipped> skipped{};  ///< those of them that came neither to mend::run nor to MPI_Init
  int unseen = 0;
  int finishers = 0;
  std::optional<int> finished;  ///< the exit code agreed on: the first reported
  /// What processes reported after that and differs: they were held dead, woke when all was over, and found themselves
  /// alone.
  std::set<int> too_late{};
  /// What processes that had finished then exited with, if that was neither 0 nor what they had reported.
  std::optional<int> error_afterwards{};
  std::optional<int> crashed_afterwards{};  ///< the signal that ended one that had finished, by a fault of its own
  std::optional<int> aborted{};             ///< the first code that MPI_Abort was called with
  bool said = false;                        ///< somebody has told the user why the job does not begin
  std::string unsaid{};                     ///< that reason, as those know it who left it to another to tell

  /// One that `launcher` has started itself: what a script of the user's runs before the program does not count.
  const Skipped* skipped_by_child_of(pid_t launcher) const;

  /// Whether they say of all `processes` what has become of them, so that mpirun need not be asked.
  bool tell_all(int processes) const { return started >= processes && left >= finishers; }

  /// Whether mpirun still waits though nothing will come: all that finished here have left, and some processes are dead
  /// of which it does not know, because their machine was cut off.
  bool waits_for_the_lost() const { return unseen > 0 && finishers > 0 && left >= finishers; }
};

/// The status file's content so far; lines that make no sense are passed over. Local.
Reports read_reports(const std::filesystem::path& status_file);
Reports read_reports(std::istream& lines);

/// What `mend run` exits with, and the sentence for the user; empty when the application has already said what is
/// wrong, or nothing is.
struct Verdict {
  int exit_code = 0;
  std::string sentence;
};

/// Pure. `processes` is how many were launched.
Verdict judge(const ChildEnd& mpirun, const Reports& reports, int processes);

}  // namespace mend::jobs
