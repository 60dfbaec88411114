// A job of real processes, started by a test and watched until it ends.
//
// What hangs must not hang the tests, and must say why: when a job has not ended at its deadline, the stacks of all
// its processes are taken, the test fails with them, and the job is ended, process by process.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace support {

struct Job {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  ///< in addition to the test's own
  std::chrono::seconds deadline{60};
  /// Called with all that has come on standard output, whenever more of it has.
  std::function<void(const std::string&)> on_output;
};

struct JobEnd {
  int exit_code = 0;    ///< 1000 + the signal, when one ended the command
  bool in_time = true;  ///< false: it hung, and was ended by force
  std::string output;
  std::string errors;
  std::vector<pid_t> left_behind;  ///< processes of the job that outlived it (and have been ended by now)
  std::chrono::duration<double> took{};
};

/// Runs a job to its end. Fails the current test, with stacks, when it passes its deadline, and when it leaves
/// processes behind. One at a time in a process: orphans of the job become this process's children.
JobEnd run_job(const Job& job);

/// The same for `mend run -n RANKS --spares SPARES -- PROGRAM...`.
Job mend_run(int ranks, int spares, const std::vector<std::string>& program);

/// How long a soak test lasts: MEND_SOAK_SECONDS, or so long.
std::chrono::seconds soak_time(std::chrono::seconds unless_told = std::chrono::minutes(1));

/// Until `done`, looking again and again; false when that takes too long.
bool soon(const std::function<bool()>& done);

/// The lines of `text` that are not empty, without the carriage returns that mpirun's terminals add, and the zeros that
/// it leaves after help texts.
std::vector<std::string> lines_of(const std::string& text);

/// The lines on standard error that are for the user to mind: all but mend's notes on what has happened, and Open MPI's
/// notice that Cartesian communicators are new to its fault tolerance (docs/open-mpi.md), which it gives in every job
/// that makes one.
std::vector<std::string> complaints(const JobEnd& end);

/// A folder of the test's own, gone when this is.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace support
