// The application's callbacks, which are called when a failure is met, and after the recovery from it.

#pragma once

#include <mpi.h>

#include <deque>
#include <exception>
#include <functional>
#include <memory>

namespace mend::fenix {

using Callback = std::function<void(MPI_Comm, int)>;

/// The application's callbacks, in the order in which they were registered. A running callback may register others, and
/// remove itself.
struct Callbacks {
  using List = std::deque<std::shared_ptr<const Callback>>;
  List before_recovery;
  List after_recovery;
  List taken_back;                   ///< removed while callbacks were running; kept, because they may be running
  int running = 0;                   ///< how many are nested; too many after a jump has left one
  std::exception_ptr thrown_before;  ///< by a callback before the recovery; thrown when the program resumes
};

/// Add a callback to a list, or remove the last one. Local.
void add_callback(Callbacks::List& callbacks, Callback callback);
void take_back_callback(Callbacks::List& callbacks);

/// Calls the application's callbacks for after a recovery, the last registered first. They may leave this function by a
/// jump.
void call_all_back();
/// Calls the callbacks for before a recovery. MPI calls in them return their errors; an exception that they throw is
/// kept until the program resumes, because the other ranks wait for this one in the recovery.
void call_all_back_before();
/// Throws what a callback has thrown in call_all_back_before(), if one has.
void throw_what_was_kept();
/// Calls the callbacks for after a recovery, and syncs the message logs if that is set. A failure does not leave the
/// application's callbacks by a jump; the functions that they call return errors, or throw CommException. Returns false
/// after a failure.
bool call_all_back_in_place();
/// With FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC: syncs the message logs. Returns false if a failure interrupted this.
bool sync_logs();

}  // namespace mend::fenix
