#pragma once

#include <mpi.h>

namespace mend {

/// Returns session.comm() in a body under --mend-world session; otherwise MPI_COMM_WORLD. Main thread. Local.
MPI_Comm meant_by_world();

/// Returns `comm`, unless it is a duplicate of MPI_COMM_WORLD from before mend::run, which the body must not use as
/// little as MPI_COMM_WORLD itself: then throws UsageError, or ends the job and returns MPI_COMM_NULL. Main thread.
MPI_Comm allowed(MPI_Comm comm);

/// The communicator that the program means by `comm`: under --mend-world session, MPI_COMM_WORLD is session.comm() in
/// a body. Each intercepted function that only asks about a communicator asks this first. Local.
inline MPI_Comm meant_by(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? meant_by_world() : comm; }

/// The same for each intercepted function that communicates, or makes what does.
inline MPI_Comm meant(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? meant_by_world() : allowed(comm); }

/// Any other argument means itself.
template <class Argument>
Argument meant(Argument argument) {
  return argument;
}

template <class Argument>
Argument meant_by(Argument argument) {
  return argument;
}

/// So that the functions of world_hooks.cpp are linked. Local.
void intercept_world();

}  // namespace mend

// NOLINTBEGIN(cppcoreguidelines-macro-usage): lists of arguments, as in parameters.hpp

#define MEND_MEANT_1 mend::meant(a0)
#define MEND_MEANT_2 MEND_MEANT_1, mend::meant(a1)
#define MEND_MEANT_3 MEND_MEANT_2, mend::meant(a2)
#define MEND_MEANT_4 MEND_MEANT_3, mend::meant(a3)
#define MEND_MEANT_5 MEND_MEANT_4, mend::meant(a4)
#define MEND_MEANT_6 MEND_MEANT_5, mend::meant(a5)
#define MEND_MEANT_7 MEND_MEANT_6, mend::meant(a6)
#define MEND_MEANT_8 MEND_MEANT_7, mend::meant(a7)
#define MEND_MEANT_9 MEND_MEANT_8, mend::meant(a8)
#define MEND_MEANT_10 MEND_MEANT_9, mend::meant(a9)
#define MEND_MEANT_11 MEND_MEANT_10, mend::meant(a10)
#define MEND_MEANT_12 MEND_MEANT_11, mend::meant(a11)

#define MEND_MEANT_BY_1 mend::meant_by(a0)
#define MEND_MEANT_BY_2 MEND_MEANT_BY_1, mend::meant_by(a1)
#define MEND_MEANT_BY_3 MEND_MEANT_BY_2, mend::meant_by(a2)
#define MEND_MEANT_BY_4 MEND_MEANT_BY_3, mend::meant_by(a3)
#define MEND_MEANT_BY_5 MEND_MEANT_BY_4, mend::meant_by(a4)
#define MEND_MEANT_BY_6 MEND_MEANT_BY_5, mend::meant_by(a5)
#define MEND_MEANT_BY_7 MEND_MEANT_BY_6, mend::meant_by(a6)

// NOLINTEND(cppcoreguidelines-macro-usage)
