// The part of the grid that a rank owns.

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

/// Returns the number of blocks along each axis, so that each of `ranks` gets one block: longer axes are cut more.
/// Throws mend::UsageError if a block would be thinner than `radius` cells, the reach of the stencil.
Extents choose_blocks(const Problem& problem, int ranks, int radius);

/// Returns the cells that this rank of `cart` (three-dimensional) owns. Blocks differ by at most one cell along an
/// axis.
Box own_block(const Problem& problem, MPI_Comm cart);

}  // namespace stencil
