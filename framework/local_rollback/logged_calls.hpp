// The layer between the application's MPI calls on a communicator and MPI. It logs the calls, so that they can be
// repeated. It is local rollback (local_rollback.hpp), or the message logs of a program for Fenix (fenix/mlog). At most
// one exists at a time. The hooks on MPI's profiling interface (framework/process/hooks/call_hooks.cpp) pass the calls
// to it.

#pragma once

#include "framework/local_rollback/derived_comms.hpp"
#include "framework/local_rollback/virtual_comm.hpp"
#include "framework/local_rollback/collectives/logged_collectives.hpp"
#include "framework/local_rollback/messages/logged_messages.hpp"

#include <mpi.h>

#include <vector>

namespace mend {

class LoggedCalls {
 public:
  LoggedCalls() = default;
  virtual ~LoggedCalls() = default;
  LoggedCalls(const LoggedCalls&) = delete;
  LoggedCalls& operator=(const LoggedCalls&) = delete;

  /// Returns the virtual communicator of `comm` if its calls are logged now; otherwise null. Local.
  virtual const VirtualComm* virtual_comm_of(MPI_Comm comm) const = 0;
  /// Returns the communicator whose group, under MPI, contains those of all others whose calls are logged, by the ranks
  /// of their members. MPI_COMM_NULL if each has its own group, which MPI knows. Local.
  virtual MPI_Comm comm_of_groups() const { return MPI_COMM_NULL; }
  virtual LoggedMessages& messages() = 0;
  virtual LoggedCollectives& collectives() = 0;
  /// Called when a call on `comm` begins, whose error handler gets its errors. MPI_COMM_NULL: it is called for requests
  /// or matched messages. Local.
  void note_call_on(MPI_Comm comm) { comm_of_call_ = comm; }
  /// Runs `work`, which returns MPI's code, inside an intercepted call.
  template <class Work>
  int in_call(Work work) {
    return run([](void* one) { return (*static_cast<Work*>(one))(); }, &work);
  }
  /// Returns true unless the main thread is in one of its own calls. Local.
  bool is_outside() const { return inside_ == 0; }
  /// Makes communicators of `parent`, as MPI_Comm_split does. Inside an intercepted call. Collective over the parent.
  /// Returns MPI's code.
  virtual int derive(const VirtualComm& parent, const CommArguments& arguments, MPI_Comm* made) = 0;
  /// The same as MPI_Comm_create_group. `ranks`: the ranks of `parent` that call it, including this one. Inside an
  /// intercepted call. Collective over them. Returns MPI's code.
  virtual int derive_group(const VirtualComm& parent, const std::vector<int>& ranks, int tag, MPI_Comm* made) = 0;
  virtual const Recipe* recipe_of(const VirtualComm& virtual_comm) const = 0;
  /// Frees a communicator whose calls are logged. Returns MPI's code. Local.
  virtual int free(MPI_Comm* comm) = 0;
  /// Returns true if calls on any communicator are logged now. Local.
  virtual bool is_logging() const { return true; }
  /// Returns true if this rank has to leave the body: its requests will never be completed. Local.
  virtual bool has_to_leave() const { return false; }
  /// Refuses `call`, which is not covered: throws UsageError, or returns MPI's code when the job has ended because of
  /// it.
  virtual int refuse(const char* call) const = 0;

 protected:
  using Call = int (*)(void*);

  /// During its lifetime, calls on virtual communicators are mend's own.
  class Inside {
   public:
    explicit Inside(int& depth) : depth_(depth) { ++depth_; }
    ~Inside() { --depth_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    int& depth_;
  };

  /// Runs `call(work)`.
  virtual int run(Call call, void* work) = 0;

  mutable int inside_ = 0;
  MPI_Comm comm_of_call_ = MPI_COMM_NULL;  // may have been freed since
};

/// Returns the object that logs calls on `comm` now, of which one begins; null if there is none. Main thread. Local.
LoggedCalls* logged_calls_of(MPI_Comm comm);
/// Returns the object of this process, for a call that begins and has no communicator; null if there is none, or while
/// it is in one of its own calls. Main thread. Local.
LoggedCalls* logged_calls();

}  // namespace mend
