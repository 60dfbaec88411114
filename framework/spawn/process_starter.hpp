// Starts one more process of a job, for --mend-on-failure spawn.
//
// The runtime starts the program that this process runs, with its arguments and environment, on this machine, as a job
// of its own. The new process initialises MPI alone and waits for no other. Then it connects to the host
// (transport/control/connection.hpp), and the members of the job admit it. Until then it may fail in any way without an
// effect on the others.

#pragma once

#include "base/ids.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace mend {

/// The result of an order to start a process.
struct StartResult {
  std::string obstacle;  ///< why it was not started; empty if it was
  std::string job;       ///< the runtime's name for the started process
};

/// Has the runtime start process number `process`, which gets the address `host_address` of the host's listener and the
/// name `parent_pipe` of its pipe. Calls `told` once, in a thread of the runtime or in this one. `told` must not call
/// the runtime: its lock may be held by a thread that waits for this one. Local; returns at once.
void start_process(ProcessId process, const std::string& host_address, const std::string& parent_pipe,
                   std::function<void(const StartResult&)> told);

/// Returns the system's process id of the started process on this machine; nothing if the runtime does not know it any
/// more. Local; waits for the daemon's answer.
std::optional<pid_t> pid_of(const StartResult& result);

}  // namespace mend
