#include "apps/stencil/scheme.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace stencil {

double SecondDerivative::symbol(double angle) const {
  double sum = weights[0];
  for (int j = 1; j <= radius; ++j) sum += 2 * weights[static_cast<std::size_t>(j)] * std::cos(j * angle);
  return sum;
}

SecondDerivative central_second_derivative(int order) {
  switch (order) {
    case 2: return {1, {-2.0, 1.0}};
    case 8: return {4, {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
    default: throw mend::UsageError(fmt::format("the order must be 2 or 8, not {}", order));
  }
}

Scheme::Scheme(const Problem& problem) : derivative_(central_second_derivative(problem.order)) {
  radius = derivative_.radius;

  // For explicit Euler the critical wave is the shortest one, which changes sign from cell to cell along every axis:
  // its factor must not be below -1.
  double fastest_decay = 0;
  for (std::size_t d = 0; d < axes; ++d) {
    cells_[d] = problem.cells[d];
    fastest_decay -= derivative_.symbol(std::numbers::pi) * cells_[d] * cells_[d];
  }
  time_step = problem.courant * 2 / fastest_decay;

  centre = 1;
  for (std::size_t d = 0; d < axes; ++d) {
    const double factor = time_step * cells_[d] * cells_[d];
    centre += factor * derivative_.weights[0];
    for (std::size_t j = 1; j <= static_cast<std::size_t>(radius); ++j) axis[d][j] = factor * derivative_.weights[j];
  }
}

double Scheme::amplification(const std::array<int, axes>& periods) const {
  double factor = 1;
  for (std::size_t d = 0; d < axes; ++d) {
    const double angle = 2 * std::numbers::pi * periods[d] / cells_[d];
    factor += time_step * cells_[d] * cells_[d] * derivative_.symbol(angle);
  }
  return factor;
}

}  // namespace stencil
