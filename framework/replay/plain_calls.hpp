#pragma once

#include "transport/mpi.hpp"

#include <mpi.h>

#include <optional>

namespace mend {

/// MPI's own call, whose errors are returned.
template <class Call>
int quietly(Call call) {
  const ErrorsReturned quiet;
  return call();
}

/// The size of a value of one of MPI's own types that lies in memory as it is packed; otherwise nothing.
std::optional<int> plain_size(MPI_Datatype type);

}  // namespace mend
