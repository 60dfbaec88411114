// Communicators that the program, or a library that it uses, makes by MPI itself, in C or in Fortran. The functions of
// MPI's profiling interface that make them are intercepted, so that what descends from the session's communicator can
// be interrupted: a factory given to Session::derive may take several steps, and programs for Fenix have no other way.

#pragma once

#include <mpi.h>

#include <functional>

namespace mend {

using CommunicatorListener = std::function<void(MPI_Comm parent, MPI_Comm made)>;

/// From now on `listener` is told of every communicator that is made of another by dup, split, create, a topology or an
/// intercommunicator, though not by MPI_Comm_idup: as soon as it is made, and MPI_COMM_NULL too. An empty one ends
/// that. One listener in a process. Main thread only. Local.
void on_communicator_made(CommunicatorListener listener);

}  // namespace mend
