// The trilinear hexahedron: eight corners, one shape function each.
//
// On the reference cube [-1, 1]^3 the shape function of corner a is the product of (1 +- xi)/2 over the axes: 1 at its
// corner, 0 at the others. The corners of the real element map the reference cube onto it; the Jacobian of that map
// turns reference gradients into real ones. Integrals are sums over 2 x 2 x 2 Gauss points, which are exact for
// boxes.
//
// Corner a is at the far end of axis i if bit i of a is set: 0 is the lowest corner, 7 the opposite one.

#pragma once

#include <Kokkos_Core.hpp>

namespace apps::minife {

inline constexpr int corners_per_element = 8;

/// The coordinates of the corners of one element: corner[a][axis].
struct Corners {
  double at[corners_per_element][3];
};

/// The contribution of one element to the operator.
struct ElementMatrices {
  double mass[corners_per_element][corners_per_element] = {};       ///< integrals of N_a N_b
  double stiffness[corners_per_element][corners_per_element] = {};  ///< integrals of grad N_a . grad N_b
};

/// The shape functions at one point of the reference cube.
struct Shape {
  double value[corners_per_element];
  double gradient[corners_per_element][3];  ///< with respect to the reference coordinates
};

KOKKOS_INLINE_FUNCTION Shape shape_at(const double (&point)[3]) {
  Shape shape;
  for (int a = 0; a < corners_per_element; ++a) {
    double factor[3];
    double slope[3];
    for (int axis = 0; axis < 3; ++axis) {
      const double side = (a >> axis & 1) != 0 ? 0.5 : -0.5;
      factor[axis] = 0.5 + side * point[axis];
      slope[axis] = side;
    }
    shape.value[a] = factor[0] * factor[1] * factor[2];
    shape.gradient[a][0] = slope[0] * factor[1] * factor[2];
    shape.gradient[a][1] = factor[0] * slope[1] * factor[2];
    shape.gradient[a][2] = factor[0] * factor[1] * slope[2];
  }
  return shape;
}

/// Converts the gradients of `shape` to gradients with respect to the real coordinates. Returns the Jacobian's
/// determinant, the real volume per reference volume.
KOKKOS_INLINE_FUNCTION double map_gradients(const Corners& corners, Shape& shape) {
  double jacobian[3][3] = {};  // [real axis][reference axis]
  for (int a = 0; a < corners_per_element; ++a) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) jacobian[i][j] += corners.at[a][i] * shape.gradient[a][j];
    }
  }
  double cofactor[3][3];
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3;
    const int i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const int j1 = (j + 1) % 3;
      const int j2 = (j + 2) % 3;
      cofactor[i][j] = jacobian[i1][j1] * jacobian[i2][j2] - jacobian[i1][j2] * jacobian[i2][j1];
    }
  }
  const double determinant =
      jacobian[0][0] * cofactor[0][0] + jacobian[0][1] * cofactor[0][1] + jacobian[0][2] * cofactor[0][2];
  for (int a = 0; a < corners_per_element; ++a) {
    double real[3] = {};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) real[i] += cofactor[i][j] * shape.gradient[a][j];
    }
    for (int i = 0; i < 3; ++i) shape.gradient[a][i] = real[i] / determinant;
  }
  return determinant;
}

/// Returns the element's mass and stiffness matrices. They are symmetric to the last bit.
KOKKOS_INLINE_FUNCTION ElementMatrices integrate(const Corners& corners) {
  constexpr double gauss = 0.57735026918962576451;  // 1/sqrt(3); all weights are 1
  ElementMatrices element;
  for (int q = 0; q < 8; ++q) {
    const double point[3] = {(q & 1) != 0 ? gauss : -gauss, (q & 2) != 0 ? gauss : -gauss,
                             (q & 4) != 0 ? gauss : -gauss};
    Shape shape = shape_at(point);
    const double volume = map_gradients(corners, shape);
    for (int a = 0; a < corners_per_element; ++a) {
      for (int b = 0; b <= a; ++b) {
        double slopes = 0;
        for (int axis = 0; axis < 3; ++axis) slopes += shape.gradient[a][axis] * shape.gradient[b][axis];
        element.mass[a][b] += volume * shape.value[a] * shape.value[b];
        element.stiffness[a][b] += volume * slopes;
      }
    }
  }
  for (int a = 0; a < corners_per_element; ++a) {
    for (int b = 0; b < a; ++b) {
      element.mass[b][a] = element.mass[a][b];
      element.stiffness[b][a] = element.stiffness[a][b];
    }
  }
  return element;
}

/// The floating-point operations of one integrate, counted by hand for the report.
inline constexpr double flops_per_element = 8 * (8 * 17 + 8 * 18 + 9 * 3 + 5 + 8 * 21 + 36 * 10);

}  // namespace apps::minife
