// mpirun as a child process: signals are passed on to it, and it leaves nothing behind.

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
  int exit_code = 0;                ///< meaningful when no signal ended it
  std::optional<int> ended_by;      ///< the signal that killed the child
  std::optional<int> asked_to_end;  ///< the last of SIGINT, SIGTERM, SIGHUP and SIGQUIT that was sent to this process
  std::set<int> passed_on{};  ///< those of SIGUSR1 and SIGUSR2 that were sent to this process, and went to the child
  bool gave_up = false;       ///< it was not wanted any more
  bool was_stuck = false;     ///< it did not end when there was nothing to wait for
  pid_t pid = 0;              ///< what the child was
};

/// What whoever runs a child thinks of it now.
struct Look {
  bool wanted = true;  ///< once false, the child is told to end
  bool over = false;   ///< nothing is left for it to wait for: if that stays so for ten seconds, it is killed
};

/// Runs `line` with `additions` to this process's environment, and waits for its end. While it runs, SIGINT, SIGTERM,
/// SIGHUP, SIGUSR1 and SIGUSR2 sent to this process go to it (a Ctrl-C at the terminal reaches it without our help),
/// and SIGQUIT as a SIGTERM. One that was asked to end and has not after ten seconds is killed. Whatever it leaves
/// running is killed before this returns; should this process be killed, the child is told to end.
///
/// What the child says on standard error is shown without known noise (jobs/run/output_filter.hpp).
///
/// `look`, told which process the child is, is asked ten times a second. `heed` is told of each signal that would go to
/// the child; one for which it returns true does not. Local; main thread; one at a time. Throws
/// EnvironmentError when the child cannot be started.
ChildEnd run_child(const std::vector<std::string>& line, const Environment& additions,
                   const std::function<Look(pid_t child)>& look, const std::function<bool(int signal)>& heed = {});

}  // namespace mend::jobs
