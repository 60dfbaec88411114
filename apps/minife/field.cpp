#include "apps/minife/field.hpp"

#include "apps/common/field_hash.hpp"
#include "transport/mpi.hpp"

namespace apps::minife {

std::uint64_t field_hash(const Heat& heat, MPI_Comm comm) {
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), heat.temperature());
  const Box& owned = heat.mesh().owned();
  FieldHash hash;
  for (std::int64_t i = 0; i < owned.volume(); ++i) {
    const std::int64_t global = heat.mesh().nodes().index(owned.at(i));
    hash.add(static_cast<std::uint64_t>(global), values(static_cast<std::size_t>(i)));
  }
  return hash.total(comm);
}

Slice middle_slice(const Heat& heat, MPI_Comm comm) {
  const Box& nodes = heat.mesh().nodes();
  Box plane = nodes;
  plane.lo.z = nodes.hi.z / 2;
  plane.hi.z = plane.lo.z + 1;
  Slice slice{static_cast<std::size_t>(plane.length(0)), static_cast<std::size_t>(plane.length(1)), {}};
  slice.values.resize(slice.columns * slice.rows);

  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), heat.temperature());
  const Box& owned = heat.mesh().owned();
  const Box ours = intersection(plane, owned);
  for (std::int64_t i = 0; i < ours.volume(); ++i) {
    const Triple node = ours.at(i);
    const auto row = static_cast<std::size_t>(plane.hi.y - 1 - node.y);
    slice.values[row * slice.columns + static_cast<std::size_t>(node.x)] =
        values(static_cast<std::size_t>(owned.index(node)));
  }

  // Every pixel is the value of one rank plus the zeros of all others.
  int self = 0;
  mend::check_mpi(MPI_Comm_rank(comm, &self), "MPI_Comm_rank");
  const auto count = static_cast<int>(slice.values.size());
  if (self == 0) {
    mend::check_mpi(MPI_Reduce(MPI_IN_PLACE, slice.values.data(), count, MPI_DOUBLE, MPI_SUM, 0, comm), "MPI_Reduce");
  } else {
    mend::check_mpi(MPI_Reduce(slice.values.data(), nullptr, count, MPI_DOUBLE, MPI_SUM, 0, comm), "MPI_Reduce");
    slice.values.clear();
  }
  return slice;
}

}  // namespace apps::minife
