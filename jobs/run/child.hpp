// mpirun as a child process: signals are passed on to it, and none of its processes is left behind.

#pragma once

#include "jobs/run/mpirun_line.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mend::jobs {

/// How a child process ended.
struct ChildEnd {
  int exit_code = 0;                ///< valid if no signal ended it
  std::optional<int> ended_by;      ///< the signal that killed the child
  std::optional<int> asked_to_end;  ///< the last of SIGINT, SIGTERM, SIGHUP and SIGQUIT that was sent to this process
  std::set<int> passed_on{};  ///< the signals among SIGUSR1 and SIGUSR2 that were sent to this process and passed on
  bool gave_up = false;       ///< the caller has told it to end
  bool was_stuck = false;     ///< it did not end although it had nothing to wait for
  pid_t pid = 0;              ///< the child's process id
  bool had_children = true;   ///< the child has waited for a child of its own
  std::string last_errors{};  ///< the end of what was shown of its standard error: 64 KiB or more
};

/// The processes that run_child() has started.
struct Children {
  pid_t child;
  pid_t guard;  ///< ends the child when this process cannot (jobs/run/mpirun_guard.hpp); -1: there is none
};

/// The caller's view of a child.
struct Look {
  bool wanted = true;  ///< if false, the child is told to end
  bool over = false;   ///< the child has nothing to wait for: if that lasts ten seconds, it is killed
};

/// Runs `line` with `additions` to this process's environment, and waits for its end. Meanwhile SIGINT, SIGTERM,
/// SIGHUP, SIGUSR1 and SIGUSR2 that are sent to this process are passed on to it, and SIGQUIT as SIGTERM. (Ctrl-C at
/// the terminal reaches it directly; without a terminal, the child has a process group of its own.) If the child was
/// asked to end and has not after ten seconds, it is killed. Processes that it leaves behind are killed before this
/// returns, as far as this process may do so. If this process is killed, the child is told to end, and is killed after
/// ten seconds.
///
/// The child's standard error is shown without known noise (jobs/run/output_filter.hpp).
///
/// `look` is called ten times a second with the processes that were started. `heed` is called for each signal that
/// would be passed on; if it returns true, the signal is not passed on. Local; main thread; one at a time. Throws
/// EnvironmentError if the child cannot be started.
ChildEnd run_child(const std::vector<std::string>& line, const Environment& additions,
                   const std::function<Look(const Children& children)>& look,
                   const std::function<bool(int signal)>& heed = {});

/// Kills all child processes of this process, and those that they leave to it, until there are none. Returns true.
/// Processes that it may not kill, because they belong to another user, are reported once and left: then it returns
/// false. Local.
bool kill_leftovers();

}  // namespace mend::jobs
