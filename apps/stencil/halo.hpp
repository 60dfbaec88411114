// Ghost cells: the cells of the neighbours' blocks that the stencil reads.
//
// The stencil is a cross, so a block needs `radius` layers of cells from the block beyond each of its six faces, and
// none from across edges and corners. All six exchanges proceed at once, while the caller computes the cells that need
// no neighbour:
//
//   mend::Requests messages(cart);
//   halo.begin(field, messages);
//   ... compute inside ...
//   messages.wait_all();
//   halo.finish(field);
//   ... compute along the faces ...

#pragma once

#include "apps/stencil/field.hpp"
#include "transport/requests.hpp"

#include <array>

namespace stencil {

class Halo {
 public:
  /// For blocks of the size of `block`, on the three-dimensional communicator `cart`.
  Halo(MPI_Comm cart, const Box& block, int radius);

  /// Begins to send the outermost layers of `field` to the neighbours, and to receive theirs. Until
  /// messages.wait_all(), this object must live; the field may be read, except for its ghost cells.
  void begin(const Field& field, mend::Requests& messages);

  /// Copies the received cells into the ghost cells of `field`.
  void finish(const Field& field);

 private:
  using Buffer = Kokkos::View<double***, Kokkos::LayoutRight>;

  /// One face of the block, with its outgoing and incoming cells.
  struct Face {
    int neighbour = MPI_PROC_NULL;
    int send_tag = 0;
    int receive_tag = 0;
    Box layers;  ///< elements that the neighbour needs
    Box ghosts;  ///< elements that hold the neighbour's cells
    Buffer outgoing;
    Buffer incoming;
    Buffer::HostMirror outgoing_host;
    Buffer::HostMirror incoming_host;
  };

  std::array<Face, 2 * axes> faces_;
};

}  // namespace stencil
