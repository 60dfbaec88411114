// A rank's block of the temperature, surrounded by room for the neighbours' cells.

#pragma once

#include "apps/stencil/block.hpp"

#include <Kokkos_Core.hpp>

#include <utility>

namespace stencil {

/// Element (i, j, k) is the cell (i, j, k) - radius of the block. Elements outside the block are ghost cells.
using Field = Kokkos::View<double***>;
using Part = Kokkos::View<double***, Kokkos::LayoutStride>;

/// Returns the elements of `field` in `box`, which is counted in elements, ghosts included. Shares the field's memory.
inline Part part_of(const Field& field, const Box& box) {
  const auto range = [&](std::size_t axis) { return std::pair(box.begin[axis], box.end[axis]); };
  return Kokkos::subview(field, range(0), range(1), range(2));
}

}  // namespace stencil
