// The problem: heat spreading in a periodic box that is divided into cells.

#pragma once

#include <array>
#include <cstdint>

namespace stencil {

inline constexpr int axes = 3;
using Extents = std::array<int, axes>;  ///< cells along x, y, z

/// du/dt = laplace(u) in the unit box, periodic in every direction, by explicit Euler steps.
struct Problem {
  Extents cells{64, 64, 64};
  int order = 2;         ///< of the space derivative: 2 (7 points) or 8 (25 points)
  double courant = 0.8;  ///< the time step as a fraction of the largest stable one, in (0, 1]
};

/// Returns the number of a cell in the whole grid, z running fastest.
inline std::uint64_t global_index(const Problem& problem, int i, int j, int k) {
  const auto row =
      static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(problem.cells[1]) + static_cast<std::uint64_t>(j);
  return row * static_cast<std::uint64_t>(problem.cells[2]) + static_cast<std::uint64_t>(k);
}

}  // namespace stencil
