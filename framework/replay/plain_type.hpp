#pragma once

#include <mpi.h>

#include <optional>

namespace mend {

/// The size of a value of one of MPI's own types that lies in memory as it is packed; otherwise nothing.
/// For the thread that owns the session: what was found last is kept.
std::optional<int> plain_size(MPI_Datatype type);

}  // namespace mend
