#include "apps/stencil/waves.hpp"

#include <cmath>
#include <numbers>

namespace stencil {

double largest_height() {
  double sum = 0;
  for (const Wave& wave : initial_waves) sum += wave.height;
  return sum;
}

WavesOnBlock::WavesOnBlock(const Problem& problem, const Box& block) {
  for (std::size_t w = 0; w < initial_waves.size(); ++w) {
    for (std::size_t d = 0; d < axes; ++d) {
      for (int cell = block.begin[d]; cell < block.end[d]; ++cell) {
        // Whole turns are removed while they are still exact.
        const std::int64_t turn = std::int64_t{initial_waves[w].periods[d]} * cell % problem.cells[d];
        const double phase = static_cast<double>(turn) / problem.cells[d] + initial_waves[w].phase[d];
        factors_[w][d].push_back(std::cos(2 * std::numbers::pi * phase));
      }
    }
  }
}

WavesOnBlock::Heights heights_by_scheme(const Scheme& scheme, int steps) {
  WavesOnBlock::Heights heights{};
  for (std::size_t w = 0; w < heights.size(); ++w) {
    heights[w] = initial_waves[w].height * std::pow(scheme.amplification(initial_waves[w].periods), steps);
  }
  return heights;
}

WavesOnBlock::Heights heights_by_equation(const Scheme& scheme, int steps) {
  WavesOnBlock::Heights heights{};
  for (std::size_t w = 0; w < heights.size(); ++w) {
    double rate = 0;
    for (const int periods : initial_waves[w].periods) rate += std::pow(2 * std::numbers::pi * periods, 2);
    heights[w] = initial_waves[w].height * std::exp(-rate * scheme.time_step * steps);
  }
  return heights;
}

}  // namespace stencil
