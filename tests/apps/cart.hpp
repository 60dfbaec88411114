#pragma once

#include "apps/stencil/block.hpp"
#include "transport/mpi.hpp"

#include <mpi.h>

/// Returns a periodic three-dimensional communicator of all ranks, cut as the application does.
inline mend::Communicator periodic_cart(const stencil::Problem& problem, int radius) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const stencil::Extents blocks = stencil::choose_blocks(problem, ranks, radius);
  const stencil::Extents periodic{1, 1, 1};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, stencil::axes, blocks.data(), periodic.data(), 0, &cart);
  return mend::Communicator(cart);
}
