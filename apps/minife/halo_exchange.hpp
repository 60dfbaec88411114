// Updates the halo: every rank sends its neighbours the values of its nodes that they know, and receives the values of
// their nodes that it knows.

#pragma once

#include "apps/minife/mesh/mesh.hpp"
#include "apps/minife/sparse_matrix.hpp"

#include <mpi.h>

#include <vector>

namespace apps::minife {

class HaloExchange {
 public:
  /// Local. `comm` must outlive this object.
  HaloExchange(const Mesh& mesh, MPI_Comm comm);

  /// Fills the halo of `vector`, which has a value for every known node; the values of the owned nodes are given.
  /// Collective. Reaches the fault point `halo` while messages are under way. Throws mend::ProcessFailure.
  void update(const Vector& vector);

 private:
  /// The exchange with one neighbour. MPI uses the host buffers; the others are in the memory space of the vectors.
  struct Channel {
    int rank;
    Kokkos::View<int*> send_nodes;  ///< local numbers, in the order of the neighbour's halo
    Vector outgoing;
    Vector::HostMirror outgoing_on_host;
    Vector::HostMirror incoming_on_host;
    std::pair<std::size_t, std::size_t> halo;  ///< local numbers of the nodes received
  };

  MPI_Comm comm_;
  std::vector<Channel> channels_;
};

}  // namespace apps::minife
