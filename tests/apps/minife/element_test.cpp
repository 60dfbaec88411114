#include "apps/minife/mesh/element.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace apps::minife {
namespace {

/// Returns a box of the given sides with its lowest corner at (1, 2, 3).
Corners brick(double x, double y, double z) {
  Corners corners;
  for (int a = 0; a < corners_per_element; ++a) {
    corners.at[a][0] = 1 + ((a & 1) != 0 ? x : 0);
    corners.at[a][1] = 2 + ((a & 2) != 0 ? y : 0);
    corners.at[a][2] = 3 + ((a & 4) != 0 ? z : 0);
  }
  return corners;
}

/// Returns a brick whose corners are displaced: a general hexahedron whose faces are not plane.
Corners crooked() {
  Corners corners = brick(1, 1, 1);
  const double pushes[8][3] = {{.1, 0, .05},  {0, .12, 0},    {-.1, .05, .1}, {.07, .03, -.1},
                               {.02, .1, .1}, {-.05, 0, .08}, {.1, -.1, 0},   {.09, .06, .11}};
  for (int a = 0; a < corners_per_element; ++a) {
    for (int axis = 0; axis < 3; ++axis) corners.at[a][axis] += pushes[a][axis];
  }
  return corners;
}

TEST(Element, shape_functions_are_one_at_their_corner_and_none_elsewhere) {
  for (int corner = 0; corner < corners_per_element; ++corner) {
    const double point[3] = {(corner & 1) != 0 ? 1. : -1., (corner & 2) != 0 ? 1. : -1., (corner & 4) != 0 ? 1. : -1.};
    const Shape shape = shape_at(point);
    for (int a = 0; a < corners_per_element; ++a) EXPECT_DOUBLE_EQ(shape.value[a], a == corner ? 1 : 0);
  }
}

TEST(Element, total_mass_is_the_volume) {
  const ElementMatrices element = integrate(brick(2, 3, 0.5));
  double total = 0;
  for (const auto& row : element.mass) {
    for (const double entry : row) total += entry;
  }
  EXPECT_NEAR(total, 3.0, 1e-14);
}

TEST(Element, mass_of_a_cube_is_the_textbooks) {
  const ElementMatrices element = integrate(brick(1, 1, 1));
  EXPECT_NEAR(element.mass[0][0], 8.0 / 216, 1e-15);
  EXPECT_NEAR(element.mass[0][1], 4.0 / 216, 1e-15);  // along an edge
  EXPECT_NEAR(element.mass[0][3], 2.0 / 216, 1e-15);  // across a face
  EXPECT_NEAR(element.mass[0][7], 1.0 / 216, 1e-15);  // across the body
}

TEST(Element, stiffness_of_a_cube_is_the_textbooks) {
  const ElementMatrices element = integrate(brick(1, 1, 1));
  EXPECT_NEAR(element.stiffness[0][0], 1.0 / 3, 1e-15);
  EXPECT_NEAR(element.stiffness[0][1], 0, 1e-15);
  EXPECT_NEAR(element.stiffness[0][3], -1.0 / 12, 1e-15);
  EXPECT_NEAR(element.stiffness[0][7], -1.0 / 12, 1e-15);
}

TEST(Element, matrices_are_symmetric_to_the_last_bit) {
  const ElementMatrices element = integrate(crooked());
  for (int a = 0; a < corners_per_element; ++a) {
    for (int b = 0; b < corners_per_element; ++b) {
      EXPECT_EQ(element.mass[a][b], element.mass[b][a]);
      EXPECT_EQ(element.stiffness[a][b], element.stiffness[b][a]);
    }
  }
}

TEST(Element, a_constant_temperature_conducts_nothing) {
  const ElementMatrices element = integrate(crooked());
  for (const auto& row : element.stiffness) {
    double sum = 0;
    for (const double entry : row) sum += entry;
    EXPECT_NEAR(sum, 0, 1e-14);
  }
}

// The patch test: gradients of a linear field are exact in an element of any shape, so the energy of u = g . x is
// |g|^2 times the volume.
TEST(Element, a_linear_temperature_is_represented_exactly_in_a_crooked_element) {
  const Corners corners = crooked();
  const double point[3] = {0.3, -0.2, 0.7};
  Shape shape = shape_at(point);
  map_gradients(corners, shape);
  const std::array slope{2.0, -1.0, 0.5};
  std::array<double, 3> found{};
  for (int a = 0; a < corners_per_element; ++a) {
    const double value = slope[0] * corners.at[a][0] + slope[1] * corners.at[a][1] + slope[2] * corners.at[a][2];
    for (std::size_t axis = 0; axis < 3; ++axis) found[axis] += value * shape.gradient[a][axis];
  }
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(found[axis], slope[axis], 1e-13);
}

TEST(Element, the_energy_of_a_linear_temperature_is_its_slope_squared_times_the_volume) {
  const Corners corners = brick(2, 3, 0.5);
  const ElementMatrices element = integrate(corners);
  double energy = 0;
  for (int a = 0; a < corners_per_element; ++a) {
    for (int b = 0; b < corners_per_element; ++b) {
      const auto value = [&](int c) { return 2 * corners.at[c][0] - corners.at[c][1] + 0.5 * corners.at[c][2]; };
      energy += value(a) * element.stiffness[a][b] * value(b);
    }
  }
  EXPECT_NEAR(energy, (4 + 1 + 0.25) * 3.0, 1e-12);
}

}  // namespace
}  // namespace apps::minife
