#pragma once

#include "framework/local_rollback/virtual_comm.hpp"

#include <mpi.h>

#include <vector>

namespace mend {

/// The neighbours of this rank in the topology of a communicator, in MPI's order; MPI_PROC_NULL where a Cartesian
/// topology ends.
struct Neighbours {
  std::vector<int> sources;
  std::vector<int> destinations;
  bool are_cartesian = false;
};

/// Sets `neighbours`. Returns MPI's code: MPI_ERR_TOPOLOGY if `virtual_comm` has none. Local.
int find_neighbours(const VirtualComm& virtual_comm, Neighbours& neighbours);

}  // namespace mend
