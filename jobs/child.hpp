// mpirun as a child process: signals are passed on to it, and it leaves nothing behind.

#pragma once

#include "jobs/mpirun_line.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mend::jobs {

/// How a child process ended.
struct ChildEnd {
  int exit_code = 0;                ///< meaningful when no signal ended it
  std::optional<int> ended_by;      ///< the signal that killed the child
  std::optional<int> asked_to_end;  ///< the last of SIGINT, SIGTERM, SIGHUP and SIGQUIT that was sent to this process
  bool gave_up = false;             ///< `still_wanted` said no
  bool was_stuck = false;           ///< it did not end when there was nothing to wait for
  pid_t pid = 0;                    ///< what the child was
};

/// Runs `line` with `additions` to this process's environment, and waits for its end. While it runs, SIGINT, SIGTERM,
/// SIGHUP, SIGUSR1 and SIGUSR2 sent to this process go to it (a Ctrl-C at the terminal reaches it without our help),
/// and SIGQUIT as a SIGTERM. One that was asked to end and has not after ten seconds is killed. Whatever it leaves
/// running is killed before this returns; should this process be killed, the child is told to end.
///
/// What the child says on standard error is shown without known noise (jobs/noise.hpp).
///
/// `still_wanted`, told which process the child is, is asked about every half second; once it says no, the child is
/// told to end. `over`, asked as often and told whether the child has no children (now), says whether nothing is left
/// for it to wait for: if it has not ended ten seconds later, it is killed. Local; main thread, once per process.
/// Throws EnvironmentError when the child cannot be started.
ChildEnd run_child(const std::vector<std::string>& line, const Environment& additions,
                   const std::function<bool(pid_t child)>& still_wanted,
                   const std::function<bool(bool has_no_children)>& over);

}  // namespace mend::jobs
