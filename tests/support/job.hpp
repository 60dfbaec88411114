// A job of real processes, started by a test and watched until it ends.
//
// A job that hangs must not hang the tests, and must be diagnosed: if it has not ended at its deadline, the stacks of
// all its processes are taken, the test fails with them, and the processes are killed.

#pragma once

#include "tests/support/scratch_folder.hpp"

#include <sys/types.h>

#include <chrono>
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
  /// Called with all standard output so far, whenever there is more.
  std::function<void(const std::string&)> on_output;
};

struct JobEnd {
  int exit_code = 0;    ///< 1000 + the signal, if one ended the command
  bool in_time = true;  ///< false: it hung and was killed
  std::string output;
  std::string errors;
  std::vector<pid_t> left_behind;  ///< processes of the job that outlived it; they were killed
  std::chrono::duration<double> took{};
};

/// Runs a job to its end. Fails the current test, with stacks, if the job passes its deadline, and if it leaves
/// processes behind. One at a time in a process: orphans of the job become this process's children.
JobEnd run_job(const Job& job);

/// The same for `mend run -n RANKS --spares SPARES -- PROGRAM...`.
Job mend_run(int ranks, int spares, const std::vector<std::string>& program);

/// The duration of a soak test: MEND_SOAK_SECONDS, or the default.
std::chrono::seconds soak_time(std::chrono::seconds unless_told = std::chrono::seconds(20));

/// Calls `done` repeatedly until it returns true. Returns false if that takes too long.
bool soon(const std::function<bool()>& done);

/// The lines of `text` that are not empty, without the carriage returns of mpirun's terminals and the zeros that mpirun
/// leaves after help texts.
std::vector<std::string> lines_of(const std::string& text);

/// The lines on standard error that the user must notice: all except mend's notes on what has happened, and Open MPI's
/// notice that Cartesian communicators are new to its fault tolerance (docs/open-mpi.md), which it writes in every job
/// that makes one.
std::vector<std::string> complaints(const JobEnd& end);

}  // namespace support
