#include "apps/minife/warming_box.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace apps::minife::warming_box {
namespace {

using std::numbers::pi;

// Integrals over [0, 1] of b = 4x(1-x) and its derivatives: of b^2, of b'^2, of b''^2.
constexpr double bump_squared = 8.0 / 15;
constexpr double slope_squared = 16.0 / 3;
constexpr double bend_squared = 64;

/// Returns the norm of B.
double bump_norm() { return std::sqrt(bump_squared * bump_squared * bump_squared); }

/// Returns the norm of all nine second derivatives of B.
double bump_bending() {
  const double straight = 3 * bend_squared * bump_squared * bump_squared;
  const double mixed = 6 * slope_squared * slope_squared * bump_squared;
  return std::sqrt(straight + mixed);
}

/// Returns the norm of the second derivatives of -laplacian(B) = 8 (b(y)b(z) + b(x)b(z) + b(x)b(y)).
double source_bending() {
  const double mean = 2.0 / 3;  // of b
  const double straight = 3 * 64 * bend_squared * (2 * bump_squared + 2 * mean * mean);
  const double mixed = 6 * 64 * slope_squared * slope_squared;
  return std::sqrt(straight + mixed);
}

}  // namespace

double error_bound(Triple elements, double dt, double time, double residuals) {
  const double coarsest = 1.0 / std::min({elements.x, elements.y, elements.z});
  const double memory = std::min(time, 1 / (3 * pi * pi));
  const double now = strength(time);
  const double steepest = warming_rate;
  const double sharpest = warming_rate * warming_rate;  // of a''

  const double space = coarsest * coarsest / (pi * pi) *
                       (bump_bending() * (now + 2 * steepest * memory) + source_bending() * now * memory);
  const double in_time = dt / 2 * sharpest * bump_norm() * memory;

  const double element_volume = 1.0 / elements.x / elements.y / elements.z;
  const double solver = 27 * residuals / std::sqrt(element_volume);
  return space + in_time + solver;
}

}  // namespace apps::minife::warming_box
