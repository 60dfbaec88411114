// The known temperature: a few waves, each decaying at its own rate.

#pragma once

#include "apps/stencil/block.hpp"
#include "apps/stencil/scheme.hpp"

#include <array>
#include <vector>

namespace stencil {

/// height * cos(2 pi (periods[0] x + phase[0])) * the same along y * the same along z
struct Wave {
  double height = 0;
  std::array<int, axes> periods{};
  std::array<double, axes> phase{};
};

/// The initial waves. They differ along each axis, so that a mistake in one direction shows.
inline constexpr std::array<Wave, 3> initial_waves{{
    {1.0, {1, 1, 1}, {0.10, 0.20, 0.30}},
    {0.5, {3, 2, 1}, {0.35, 0.05, 0.15}},
    {0.25, {1, 0, 4}, {0.25, 0.00, 0.45}},
}};

/// Returns the sum of the heights: no temperature is ever larger.
double largest_height();

/// The initial waves on one block, from tables: a wave is a product of one factor per axis.
class WavesOnBlock {
 public:
  WavesOnBlock(const Problem& problem, const Box& block);

  /// The height of each wave.
  using Heights = std::array<double, initial_waves.size()>;

  /// Returns the temperature at cell (i, j, k) of the block.
  double at(const Heights& heights, int i, int j, int k) const {
    double sum = 0;
    for (std::size_t w = 0; w < initial_waves.size(); ++w) {
      sum += heights[w] * factors_[w][0][static_cast<std::size_t>(i)] * factors_[w][1][static_cast<std::size_t>(j)] *
             factors_[w][2][static_cast<std::size_t>(k)];
    }
    return sum;
  }

 private:
  std::array<std::array<std::vector<double>, axes>, initial_waves.size()> factors_;
};

/// Returns the heights after `steps` steps of the scheme, computed without running it.
WavesOnBlock::Heights heights_by_scheme(const Scheme& scheme, int steps);
/// Returns the heights at that time according to the heat equation itself.
WavesOnBlock::Heights heights_by_equation(const Scheme& scheme, int steps);

}  // namespace stencil
