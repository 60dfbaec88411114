#pragma once

#include <mpi.h>

namespace mend {

/// Returns session.comm() while a body runs under --mend-world session; otherwise MPI_COMM_WORLD. The thread that is in
/// MPI. Local.
MPI_Comm world_of_body();

/// Returns `comm`. If it was made before mend::run, throws UsageError, or ends the job and returns MPI_COMM_NULL. This
/// concerns duplicates of MPI_COMM_WORLD, which contain the spares, and under local rollback also parts of it. The
/// thread that is in MPI.
MPI_Comm require_no_copy_of_world(MPI_Comm comm);

/// Returns the communicator that the program means by `comm`: under --mend-world session, MPI_COMM_WORLD is
/// session.comm() in a body. Each intercepted function that only asks about a communicator calls this first. Local.
inline MPI_Comm resolve_to_ask(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? world_of_body() : comm; }

/// The same for each intercepted function that communicates, or makes an object that communicates.
inline MPI_Comm resolve(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? world_of_body() : require_no_copy_of_world(comm);
}

/// Returns any other argument unchanged.
template <class Argument>
Argument resolve(Argument argument) {
  return argument;
}

template <class Argument>
Argument resolve_to_ask(Argument argument) {
  return argument;
}

/// Makes the linker take the functions of world_hooks.cpp. Local.
void intercept_world();

}  // namespace mend

// NOLINTBEGIN(cppcoreguidelines-macro-usage): lists of arguments, as in parameters.hpp

#define MEND_RESOLVE_1 mend::resolve(a0)
#define MEND_RESOLVE_2 MEND_RESOLVE_1, mend::resolve(a1)
#define MEND_RESOLVE_3 MEND_RESOLVE_2, mend::resolve(a2)
#define MEND_RESOLVE_4 MEND_RESOLVE_3, mend::resolve(a3)
#define MEND_RESOLVE_5 MEND_RESOLVE_4, mend::resolve(a4)
#define MEND_RESOLVE_6 MEND_RESOLVE_5, mend::resolve(a5)
#define MEND_RESOLVE_7 MEND_RESOLVE_6, mend::resolve(a6)
#define MEND_RESOLVE_8 MEND_RESOLVE_7, mend::resolve(a7)
#define MEND_RESOLVE_9 MEND_RESOLVE_8, mend::resolve(a8)
#define MEND_RESOLVE_10 MEND_RESOLVE_9, mend::resolve(a9)
#define MEND_RESOLVE_11 MEND_RESOLVE_10, mend::resolve(a10)
#define MEND_RESOLVE_12 MEND_RESOLVE_11, mend::resolve(a11)

#define MEND_RESOLVE_TO_ASK_1 mend::resolve_to_ask(a0)
#define MEND_RESOLVE_TO_ASK_2 MEND_RESOLVE_TO_ASK_1, mend::resolve_to_ask(a1)
#define MEND_RESOLVE_TO_ASK_3 MEND_RESOLVE_TO_ASK_2, mend::resolve_to_ask(a2)
#define MEND_RESOLVE_TO_ASK_4 MEND_RESOLVE_TO_ASK_3, mend::resolve_to_ask(a3)
#define MEND_RESOLVE_TO_ASK_5 MEND_RESOLVE_TO_ASK_4, mend::resolve_to_ask(a4)
#define MEND_RESOLVE_TO_ASK_6 MEND_RESOLVE_TO_ASK_5, mend::resolve_to_ask(a5)
#define MEND_RESOLVE_TO_ASK_7 MEND_RESOLVE_TO_ASK_6, mend::resolve_to_ask(a6)

// NOLINTEND(cppcoreguidelines-macro-usage)
