// The problem that miniFE solves here, and its exact solution.
//
// A cube whose walls are held at temperature 1 is heated from inside. The heat source is chosen so that the solution is
// known everywhere and at all times (a manufactured solution):
//
//       u(x, y, z, t) = 1 + a(t) B(x, y, z)
//       f = du/dt - laplacian(u) = a' B + a * (-laplacian(B))
//
//       a(t) = 1 - exp(-10 t)          from the walls' temperature to a steady state
//       B    = b(x) b(y) b(z)          with b(x) = 4 x (1 - x): 1 in the middle, 0 at the walls
//
// B is deliberately a polynomial and not a single sine wave: a sine is an eigenvector of the discrete operator, and
// conjugate gradients would find it in one iteration.
//
// Lengths are in units of the cube's side L, times in units of the diffusion time L^2/kappa.

#pragma once

#include "apps/minife/mesh/box.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>

namespace apps::minife::warming_box {

inline constexpr double wall_temperature = 1;
inline constexpr double warming_rate = 10;

/// b(x)
KOKKOS_INLINE_FUNCTION double bump(double x) { return 4 * x * (1 - x); }

/// a(t)
inline double strength(double time) { return 1 - std::exp(-warming_rate * time); }
/// a'(t)
inline double strength_slope(double time) { return warming_rate * std::exp(-warming_rate * time); }

/// Returns the temperature at a point when the bump has strength a(t).
KOKKOS_INLINE_FUNCTION double temperature(double strength, double x, double y, double z) {
  return wall_temperature + strength * bump(x) * bump(y) * bump(z);
}

/// Returns the heat source at a point when the bump has strength a(t) and slope a'(t).
KOKKOS_INLINE_FUNCTION double source(double strength, double slope, double x, double y, double z) {
  const double bx = bump(x);
  const double by = bump(y);
  const double bz = bump(z);
  return slope * bx * by * bz + strength * 8 * (by * bz + bx * bz + bx * by);
}

/// Returns the largest distance, in the L2 norm, of the computed temperature from the exact one at `time`, on a mesh of
/// `elements`, with steps of `dt`, if the norms of the solver's residuals add up to `residuals`. Local.
///
/// Three errors add up (Thomee, Galerkin Finite Element Methods for Parabolic Problems, chapter 1). Each decays at the
/// rate of the cube's slowest mode, lambda = 3 pi^2, so that it accumulates over min(time, 1/lambda):
///   space    (h/pi)^2 times the second derivatives of u, and of the source terms (u_t, f)
///   time     dt/2 times u_tt
///   solver   residuals over the smallest eigenvalue of the mass matrix, which is not below h_x h_y h_z / 27
/// The space term has the one-dimensional constant 1/pi^2; the tests show the margin.
double error_bound(Triple elements, double dt, double time, double residuals);

}  // namespace apps::minife::warming_box
