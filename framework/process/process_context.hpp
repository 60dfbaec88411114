// What the framework keeps once for the whole process, because callbacks that have no argument need it: exit handlers,
// std::terminate, MPI's profiling interface and error handlers. Everything else belongs to the Job.
//
// Its life: it begins before main, with the process, and is never destroyed, because exit handlers use it. Before main
// it does three things, in this order:
//   1. A process that the job has started takes its parent-death signal (framework/spawn/parent_death_signal.hpp): it
//      may be stopped before main too.
//   2. The launcher is told that the process has come to life, sees where it is (base/telemetry/job_board.hpp), and
//      will be told when it exits.
//   3. A process that the launcher has started reports a crash to it until the others would notice.

#pragma once

#include "base/ids.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/communicator_hooks.hpp"

#include <sys/types.h>

#include <atomic>
#include <exception>
#include <thread>

namespace mend {

class LocalRollback;

/// Where the main thread is, as seen from a body (framework/process/body_guard.hpp).
enum class BodyState { outside, inside, refused, over };

/// There is one (process_context). Main thread, but for the atomic.
struct ProcessContext {
  pid_t pid = 0;               ///< of this process; another in a process that the application has forked
  int parent_death_pipe = -1;  ///< reading end; -1: this process is not ended with its parent

  bool has_run = false;           ///< mend::run was called
  bool has_prepared_mpi = false;  ///< before_mpi_init() was called
  bool has_started_mpi = false;   ///< after_mpi_init() was called

  BodyState body = BodyState::outside;
  std::thread::id thread_of_body;
  bool refuses_exit = false;     ///< the exit handler of body_guard.cpp is registered
  bool forbids_world = false;    ///< MPI_COMM_WORLD has been revoked (forbid_world)
  bool warned_of_world = false;  ///< that its ranks and its size are not those of the job
  BodyRules body_rules;
  CommunicatorListener communicator_listener;
  LocalRollback* local_rollback = nullptr;  ///< that stands in for MPI (framework/replay/local_rollback.hpp), if any

  std::atomic<bool> death_concerns_others = false;
  ProcessId self;  ///< once its death concerns others
  std::terminate_handler terminate_before = nullptr;

  /// Whether this is a process that the application has forked, with a copy of everything here. Local.
  bool is_forked() const;
};

/// This process's. Local.
ProcessContext& process_context();

}  // namespace mend
