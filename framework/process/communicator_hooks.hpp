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
/// intercommunicator, but not by MPI_Comm_idup. It is called as soon as the communicator is made, also with
/// MPI_COMM_NULL. An empty function ends this. One listener in a process. Main thread only. Local.
void on_communicator_made(CommunicatorListener listener);

}  // namespace mend
