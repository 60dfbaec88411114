// The unit cube, cut into nx * ny * nz hexahedra, and one rank's part of it.
//
// Each node belongs to one rank, which keeps its row of the matrix. To compute with its rows a rank needs one more
// layer of nodes, the halo, whose values its neighbours own:
//
//        known = owned + halo          local numbers: the owned nodes first, in the order of their box,
//       h h h h h h                    then the halo, neighbour by neighbour, each in the order of its box
//       h o o o o h
//       h o o o o h                    elements are not owned: a rank computes every element that touches one of
//       h h h h h h                    its nodes, so that its rows are complete without a message
//
// All of this follows from the numbers of elements and ranks: building a mesh sends no messages.

#pragma once

#include "apps/minife/mesh/box.hpp"
#include "base/ids.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace apps::minife {

/// A rank that owns nodes of this rank's halo, and the nodes exchanged with it.
struct Neighbour {
  mend::Rank rank;
  Box receive;  ///< its nodes that this rank needs
  Box send;     ///< this rank's nodes that it needs
};

/// Numbers the nodes that a rank knows. May be copied into kernels.
struct LocalNumbering {
  Box owned;
  Box known;
  Kokkos::View<const int*> of_known;

  /// Returns the local number of a node in `known`.
  KOKKOS_INLINE_FUNCTION int operator()(Triple node) const {
    return of_known(static_cast<std::size_t>(known.index(node)));
  }
};

/// The positions of nodes in the unit cube. May be copied into kernels.
struct Geometry {
  Triple elements;

  /// Returns the coordinate of `node` on `axis`, 0 to 1.
  KOKKOS_INLINE_FUNCTION double coordinate(Triple node, int axis) const {
    return static_cast<double>(node[axis]) / elements[axis];
  }
  KOKKOS_INLINE_FUNCTION bool on_wall(Triple node) const {
    return node.x == 0 || node.x == elements.x || node.y == 0 || node.y == elements.y || node.z == 0 ||
           node.z == elements.z;
  }
};

class Mesh {
 public:
  /// Builds the part of `rank` in a mesh of `elements` that `ranks` ranks share. Local. Throws mend::UsageError if an
  /// axis has no element, if there are too many ranks, or if the part has more nodes than an int can count.
  Mesh(Triple elements, mend::Rank rank, int ranks);

  /// All nodes of the mesh.
  const Box& nodes() const { return nodes_; }
  /// All elements of the mesh.
  Box elements() const { return {{}, geometry_.elements}; }
  const Geometry& geometry() const { return geometry_; }

  const Box& owned() const { return numbering_.owned; }
  int owned_count() const { return static_cast<int>(owned().volume()); }
  int known_count() const { return static_cast<int>(numbering_.known.volume()); }
  const LocalNumbering& numbering() const { return numbering_; }

  /// The elements that touch an owned node.
  Box touching_elements() const;

  /// In ascending order of rank.
  std::span<const Neighbour> neighbours() const { return neighbours_; }

  /// Returns the place of every known node, by local number.
  Kokkos::View<const Triple*> places() const { return places_; }

 private:
  void number_nodes();

  Geometry geometry_;
  Box nodes_;
  LocalNumbering numbering_;
  std::vector<Neighbour> neighbours_;
  Kokkos::View<const Triple*> places_;
};

}  // namespace apps::minife
