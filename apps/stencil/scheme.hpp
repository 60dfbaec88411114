// The finite-difference scheme, and its properties that are known without running it.
//
// A plane wave passes a periodic finite-difference scheme unchanged except for its height: one step multiplies it by a
// number, the amplification factor. So the exact result of the *scheme*, not only of the differential equation, is
// known in advance, and a run can be checked to rounding.

#pragma once

#include "apps/stencil/problem.hpp"

#include <array>

namespace stencil {

inline constexpr int largest_radius = 4;

/// Weights of the values at distance 0, 1, ... radius; the same to both sides.
using Weights = std::array<double, largest_radius + 1>;

/// Weights of the second derivative on a grid of spacing 1.
struct SecondDerivative {
  int radius = 0;
  Weights weights{};

  /// Returns the factor for a wave that turns by `angle` radians from one cell to the next.
  double symbol(double angle) const;
};

/// Returns central differences of order 2 or 8. Throws mend::UsageError for any other order.
SecondDerivative central_second_derivative(int order);

/// One explicit Euler step of the heat equation as weights: u_new = centre * u + the sum over axes d and distances
/// j >= 1 of axis[d][j] * (u(+j) + u(-j)).
struct Scheme {
  int radius = 0;
  double time_step = 0;
  double centre = 0;
  std::array<Weights, axes> axis{};

  explicit Scheme(const Problem& problem);

  /// Returns the factor by which one step multiplies a wave with `periods` periods in the box along each axis.
  double amplification(const std::array<int, axes>& periods) const;

 private:
  std::array<double, axes> cells_{};
  SecondDerivative derivative_;
};

}  // namespace stencil
