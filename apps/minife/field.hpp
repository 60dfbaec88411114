// Output of the temperature field: one hash, one picture.

#pragma once

#include "apps/minife/heat.hpp"

#include <cstdint>
#include <vector>

namespace apps::minife {

/// Returns the hash of the whole field, by place in the mesh. Collective over `comm`; the same on every rank.
std::uint64_t field_hash(const Heat& heat, MPI_Comm comm);

/// The values of a picture, first row at the top.
struct Slice {
  std::size_t columns = 0;
  std::size_t rows = 0;
  std::vector<double> values;
};

/// Returns the temperature in the middle plane (across z), with y pointing upwards. Collective over `comm`; only rank 0
/// gets the values.
Slice middle_slice(const Heat& heat, MPI_Comm comm);

}  // namespace apps::minife
