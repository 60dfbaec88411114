#pragma once

#include <mpi.h>

namespace mend {

/// Copies the attributes of `from` to `to` as MPI_Comm_dup does, by the callbacks of their keys. Keys that were made in
/// Fortran are not known. Returns MPI's code, or that of a callback. Local.
int copy_attributes(MPI_Comm from, MPI_Comm to);

}  // namespace mend
