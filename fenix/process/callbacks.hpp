// The application's callbacks: when a failure is met, and when it has been recovered from.

#pragma once

#include <mpi.h>

#include <deque>
#include <exception>
#include <functional>
#include <memory>

namespace mend::fenix {

using Callback = std::function<void(MPI_Comm, int)>;

/// The application's callbacks, in the order in which they were registered. One that is running may register others,
/// and take itself back.
struct Callbacks {
  using List = std::deque<std::shared_ptr<const Callback>>;
  List before_recovery;
  List after_recovery;
  List taken_back;                   ///< while some were running: these may be among them
  int running = 0;                   ///< how many call each other; too many after one was left by a jump
  std::exception_ptr thrown_before;  ///< by one that was called before the recovery; thrown when the program resumes
};

/// Adds a callback to those of a list, or takes the last one back. Local.
void add_callback(Callbacks::List& callbacks, Callback callback);
void take_back_callback(Callbacks::List& callbacks);

/// Calls the application's callbacks for after a recovery, the last registered first. They may jump out of it.
void call_all_back();
/// The same for those before one. Errors of MPI that they meet are returned to them; what they throw is kept until the
/// program resumes, because the other ranks wait for this one in the recovery.
void call_all_back_before();
/// Calls back those for after a recovery, and syncs the message logs if that is wanted. A failure does not leave the
/// application's callbacks by a jump, but ends what they do. Returns false after one.
bool call_all_back_in_place();
/// With FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC: syncs the message logs. Returns false if a failure came between.
bool sync_logs();

}  // namespace mend::fenix
