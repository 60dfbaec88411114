// Notices communicators that the program, or a library that it uses, makes by MPI itself, in C or in Fortran. The MPI
// functions that make them are intercepted in the profiling interface. So communicators that descend from the session's
// can be interrupted. A factory given to Session::derive may take several steps, and programs for Fenix make all their
// communicators by MPI itself.

#pragma once

#include <mpi.h>

#include <functional>

namespace mend {

using CommunicatorListener = std::function<void(MPI_Comm parent, MPI_Comm made)>;

/// Calls `listener` for every communicator that is made from another by dup, split, create, a topology or an
/// intercommunicator. It is called as soon as the communicator is made, also with MPI_COMM_NULL; if it is made by
/// MPI_Comm_idup, when a call of MPI has completed the request, because only then may the program use it. An empty
/// function ends this. One listener in a process. Main thread only. Local.
void on_communicator_made(CommunicatorListener listener);

/// Takes a communicator that the program frees, by MPI_Comm_free or MPI_Comm_disconnect, and returns true; or leaves it
/// to MPI.
using CommunicatorTaker = std::function<bool(MPI_Comm comm)>;

/// Asks `taker` whenever the program frees a communicator. An empty function ends this. One taker in a process. Main
/// thread only. Local.
void on_communicator_freed(CommunicatorTaker taker);

/// A communicator that MPI_Comm_idup is making.
struct ComingCommunicator {
  MPI_Comm parent;
  MPI_Comm made;  ///< its handle, which is there when the call returns
  MPI_Request request;
  const MPI_Request* asked = nullptr;  ///< where the program keeps the request that it has completed just now
};

/// Forgets the communicators that are being made, because the program does not use them any more. Main thread only.
void forget_coming_communicators();

namespace detail {
bool are_communicators_coming();
void ask_for_communicators(int count, const MPI_Request* requests);
void take_made_communicators(int code);
}  // namespace detail

/// Carries out `call`, which completes requests, and tells the listener of the communicators that are made by then.
/// Returns what `call` returns. Errors may jump out of it. Main thread only.
template <class Call>
int notice_made(int count, const MPI_Request* requests, const Call& call) {
  if (!detail::are_communicators_coming()) return call();
  detail::ask_for_communicators(count, requests);
  const int code = call();
  detail::take_made_communicators(code);
  return code;
}

}  // namespace mend
