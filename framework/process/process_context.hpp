// The state that the framework keeps for the whole process, because callbacks without an argument need it: exit
// handlers, std::terminate, MPI's profiling interface and error handlers. Nearly all other state belongs to the Job;
// docs/architecture.md lists the rest.
//
// It begins before main, and is never destroyed, because exit handlers use it. Before main it does three things, in
// this order:
//   1. A process that the job has started takes its parent-death signal (framework/spawn/parent_death_signal.hpp),
//      because it may be stopped before main too.
//   2. It tells the launcher that the process has started, joins the board (base/telemetry/job_board.hpp), and
//      registers the report of its exit.
//   3. A process that the launcher has started reports a crash to the launcher until the others would notice it.

#pragma once

#include "base/ids.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/hooks/communicator_hooks.hpp"
#include "framework/process/persistent_requests.hpp"

#include <sys/types.h>

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace mend {

class LoggedCalls;

/// The state of the main thread with respect to bodies (framework/process/body_guard.hpp).
enum class BodyState { outside, inside, refused, over };

/// There is one object (process_context). Main thread only, or the thread that is in MPI in its stead, except for the
/// atomic.
struct ProcessContext {
  pid_t pid = 0;               ///< of this process; a process that the application has forked has another one
  int parent_death_pipe = -1;  ///< reading end; -1: this process does not end with its parent

  bool has_run = false;           ///< mend::run was called
  bool has_prepared_mpi = false;  ///< before_mpi_init() was called
  bool has_started_mpi = false;   ///< after_mpi_init() was called

  BodyState body = BodyState::outside;
  std::thread::id thread_of_body;
  const void* frame_of_body = nullptr;  ///< on the stack, of the function that has called the body
  bool refuses_exit = false;            ///< the exit handler of body_guard.cpp is registered
  /// In a body, MPI_COMM_WORLD is session.comm() (framework/process/hooks/world_substitution.hpp).
  bool world_is_session = false;
  bool forbids_world = false;             ///< MPI_COMM_WORLD has been revoked (forbid_world)
  std::vector<MPI_Comm> worlds;           ///< communicators of all processes that the program made before mend::run
  std::vector<MPI_Comm> parts_of_worlds;  ///< those of some processes, two or more, that it made of these
  bool warned_of_world = false;           ///< the warning about the ranks and the size of MPI_COMM_WORLD was written
  BodyRules body_rules;
  CommunicatorListener communicator_listener;
  CommunicatorTaker communicator_taker;
  std::vector<ComingCommunicator> coming_communicators;
  PersistentRequests persistent_requests;
  /// The object that replaces MPI (framework/local_rollback/logged_calls.hpp), if any.
  LoggedCalls* logged_calls = nullptr;

  std::atomic<bool> death_concerns_others = false;
  ProcessId self;  ///< set when its death concerns others
  std::terminate_handler terminate_before = nullptr;

  /// Returns true in a process that the application has forked, which has a copy of this object. Local.
  bool is_forked() const;
};

/// The context of this process. Local.
ProcessContext& process_context();

}  // namespace mend
