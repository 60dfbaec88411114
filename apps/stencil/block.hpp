// Which part of the grid a rank owns.

#pragma once

#include "apps/stencil/problem.hpp"

#include <mpi.h>

namespace stencil {

/// A box of cells [begin, end) along each axis.
struct Box {
  Extents begin{};
  Extents end{};

  int extent(std::size_t axis) const { return end[axis] - begin[axis]; }
  bool empty() const;
  bool operator==(const Box&) const = default;
};

/// How many blocks to cut the grid into along each axis so that each of `ranks` gets one: longer axes are cut more.
/// Throws mend::UsageError when a block would be thinner than `radius` cells, which is as far as the stencil reaches.
Extents choose_blocks(const Problem& problem, int ranks, int radius);

/// The cells that this rank of `cart` (three-dimensional) owns. Blocks differ by at most one cell along an axis.
Box own_block(const Problem& problem, MPI_Comm cart);

}  // namespace stencil
