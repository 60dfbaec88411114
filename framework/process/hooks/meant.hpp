#pragma once

#include <mpi.h>

namespace mend {

/// Returns session.comm() in a body under --mend-world session; otherwise MPI_COMM_WORLD. Main thread. Local.
MPI_Comm meant_by_world();

/// The communicator that the program means by `comm`: under --mend-world session, MPI_COMM_WORLD is session.comm() in
/// a body. Each intercepted function that has a communicator asks this first. Local.
inline MPI_Comm meant(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? meant_by_world() : comm; }

/// Any other argument means itself.
template <class Argument>
Argument meant(Argument argument) {
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

// NOLINTEND(cppcoreguidelines-macro-usage)
