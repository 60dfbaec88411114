// Starting one more process of a job: the rung of the ladder that is climbed when no spare is left.
//
// The runtime starts the program that this process runs, with its arguments and environment, on this machine, as a job
// of its own: it initialises MPI alone and waits for nobody. Then it calls where it is awaited
// (transport/control/connection.hpp) and is let into the job by those who want it. Until then it may fail in any way,
// and only they notice.

#pragma once

#include "base/ids.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace mend {

/// What became of an order to start a process.
struct Birth {
  std::string obstacle;  ///< why it was not started; empty when it was
  std::string job;       ///< what the runtime calls what was started
};

/// Has the runtime start process number `process`, and tells it that it is awaited at `door` and ends with the owner of
/// `parent_pipe`. Local; returns at once. `told` is called once, in a thread of the runtime or in this one; it must not
/// ask the runtime for anything, whose lock may be held by one who waits for that thread.
void start_process(ProcessId process, const std::string& door, const std::string& parent_pipe,
                   std::function<void(const Birth&)> told);

/// By what number this machine knows the process that was started; nothing when the runtime knows of none any more.
/// Local; waits for the daemon's answer.
std::optional<pid_t> pid_of(const Birth& birth);

}  // namespace mend
