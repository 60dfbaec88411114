#include "apps/stencil/block.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace stencil {

bool Box::empty() const { return extent(0) <= 0 || extent(1) <= 0 || extent(2) <= 0; }

Extents choose_blocks(const Problem& problem, int ranks, int radius) {
  Extents counts{};
  MPI_Dims_create(ranks, axes, counts.data());  // largest first

  std::array<std::size_t, axes> by_length{0, 1, 2};
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](std::size_t a, std::size_t b) { return problem.cells[a] > problem.cells[b]; });
  Extents blocks{};
  for (std::size_t i = 0; i < axes; ++i) blocks[by_length[i]] = counts[i];

  for (std::size_t d = 0; d < axes; ++d) {
    const int thinnest = problem.cells[d] / blocks[d];
    if (thinnest < radius) {
      throw mend::UsageError(fmt::format(
          "{} ranks cut the {} x {} x {} grid into {} x {} x {} blocks, and a block would be {} cells thin where the "
          "stencil of order {} needs {}: take a larger grid or fewer ranks",
          ranks, problem.cells[0], problem.cells[1], problem.cells[2], blocks[0], blocks[1], blocks[2], thinnest,
          problem.order, radius));
    }
  }
  return blocks;
}

Box own_block(const Problem& problem, MPI_Comm cart) {
  Extents blocks{};
  Extents periodic{};
  Extents position{};
  MPI_Cart_get(cart, axes, blocks.data(), periodic.data(), position.data());

  const auto first_cell = [&](std::size_t axis, int block) {
    return static_cast<int>(std::int64_t{problem.cells[axis]} * block / blocks[axis]);
  };
  Box own;
  for (std::size_t d = 0; d < axes; ++d) {
    own.begin[d] = first_cell(d, position[d]);
    own.end[d] = first_cell(d, position[d] + 1);
  }
  return own;
}

}  // namespace stencil
