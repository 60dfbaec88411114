// The problem that miniFE solves here, and what is known about it.
//
// A cube whose walls are held at temperature 1 is heated from inside. The heat source is chosen so that the answer is
// known everywhere and at all times (a manufactured solution):
//
//       u(x, y, z, t) = 1 + a(t) B(x, y, z)       a(t) = 1 - exp(-10 t)      from the walls' temperature to a steady
//       state
//                                                 B    = b(x) b(y) b(z), b(x) = 4 x (1 - x): 1 in the middle, 0 at the
//                                                 walls
//       f = du/dt - laplacian(u) = a' B + a * (-laplacian(B))
//
// B is a polynomial and not a single sine wave on purpose: a sine is an eigenvector of the discrete operator, and
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

/// b and its kin.
KOKKOS_INLINE_FUNCTION double bump(double x) { return 4 * x * (1 - x); }

/// a(t)
inline double strength(double time) { return 1 - std::exp(-warming_rate * time); }
/// a'(t)
inline double strength_slope(double time) { return warming_rate * std::exp(-warming_rate * time); }

/// The temperature at a point when the bump has strength a(t).
KOKKOS_INLINE_FUNCTION double temperature(double strength, double x, double y, double z) {
  return wall_temperature + strength * bump(x) * bump(y) * bump(z);
}

/// The heat source at a point when the bump has strength a(t) and slope a'(t).
KOKKOS_INLINE_FUNCTION double source(double strength, double slope, double x, double y, double z) {
  const double bx = bump(x);
  const double by = bump(y);
  const double bz = bump(z);
  return slope * bx * by * bz + strength * 8 * (by * bz + bx * bz + bx * by);
}

/// How far, in the L2 norm, the computed temperature may be from the exact one at `time`,
/// on a mesh of `elements`, with steps of `dt`, when the solver has left residuals whose norms add up to
/// `residuals`. Local.
///
/// Three errors add up (Thomee, Galerkin Finite Element Methods for Parabolic Problems, chapter 1). Each is forgotten
/// at the rate of the cube's slowest mode, lambda = 3 pi^2, so that it has min(time, 1/lambda) to pile up:
///   space    (h/pi)^2 times the second derivatives of u, and of what is fed in (u_t, f)
///   time     dt/2 times u_tt
///   solver   residuals over the smallest eigenvalue of the mass matrix, which is not below h_x h_y h_z / 27
/// The space term has the one-dimensional constant 1/pi^2; the tests show what room it leaves.
double error_bound(Triple elements, double dt, double time, double residuals);

}  // namespace apps::minife::warming_box
