// Brings the halo up to date: every rank sends its neighbours the values of its nodes that they know, and receives
// those of theirs that it knows.

#pragma once

#include "apps/minife/mesh/mesh.hpp"
#include "apps/minife/sparse_matrix.hpp"

#include <mpi.h>

#include <vector>

namespace apps::minife {

class HaloExchange {
 public:
  /// Local. `comm` must outlive this.
  HaloExchange(const Mesh& mesh, MPI_Comm comm);

  /// Fills in the halo of `vector`, which has a value for every known node, of which the owned ones are given.
  /// Collective. Reaches the fault point `halo` while messages are under way. Throws mend::ProcessFailure.
  void update(const Vector& vector);

 private:
  /// What goes to and comes from one neighbour. MPI works on the host buffers; the others are where the vectors are.
  struct Channel {
    int rank;
    Kokkos::View<int*> send_nodes;  ///< local numbers, in the order the neighbour numbers them in its halo
    Vector outgoing;
    Vector::HostMirror outgoing_on_host;
    Vector::HostMirror incoming_on_host;
    std::pair<std::size_t, std::size_t> halo;  ///< local numbers of what comes in
  };

  MPI_Comm comm_;
  std::vector<Channel> channels_;
};

}  // namespace apps::minife
