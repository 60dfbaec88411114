#include "apps/minife/assembly.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

namespace apps::minife {
namespace {

constexpr Triple elements{6, 5, 4};
constexpr double dt = 0.01;

HeatOperator assembled(const Mesh& mesh) { return assemble(mesh, make_structure(mesh), dt); }

/// Returns one row of a matrix, with columns by place in the whole mesh.
std::map<std::int64_t, double> row_of(const Mesh& mesh, const SparseMatrix& matrix, Triple node) {
  std::map<std::int64_t, double> row;
  const auto local = static_cast<std::size_t>(mesh.numbering()(node));
  for (auto entry = static_cast<std::size_t>(matrix.row_begin(local));
       entry < static_cast<std::size_t>(matrix.row_begin(local + 1)); ++entry) {
    const Triple column = mesh.places()(static_cast<std::size_t>(matrix.columns(entry)));
    row[mesh.nodes().index(column)] = matrix.values(entry);
  }
  return row;
}

void expect_same_bits(const std::map<std::int64_t, double>& a, const std::map<std::int64_t, double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [column, value] : a) {
    ASSERT_TRUE(b.contains(column));
    EXPECT_EQ(std::memcmp(&value, &b.at(column), sizeof(double)), 0) << "column " << column;
  }
}

TEST(Assembly, couples_a_node_with_those_of_the_elements_around_it) {
  const Mesh mesh(elements, mend::Rank{0}, 1);
  const SparseMatrix structure = make_structure(mesh);
  EXPECT_EQ(row_of(mesh, structure, {3, 2, 2}).size(), 27u);
  EXPECT_EQ(row_of(mesh, structure, {0, 2, 2}).size(), 18u);
  EXPECT_EQ(row_of(mesh, structure, {0, 0, 2}).size(), 12u);
  EXPECT_EQ(row_of(mesh, structure, {0, 0, 0}).size(), 8u);
}

TEST(Assembly, orders_columns_by_place_in_the_whole_mesh) {
  const Mesh mesh(elements, mend::Rank{2}, 5);
  const SparseMatrix structure = make_structure(mesh);
  for (std::size_t row = 0; row < structure.rows(); ++row) {
    for (auto entry = static_cast<std::size_t>(structure.row_begin(row)) + 1;
         entry < static_cast<std::size_t>(structure.row_begin(row + 1)); ++entry) {
      const auto place = [&](std::size_t e) {
        return mesh.nodes().index(mesh.places()(static_cast<std::size_t>(structure.columns(e))));
      };
      EXPECT_LT(place(entry - 1), place(entry));
    }
  }
}

TEST(Assembly, total_mass_is_the_cubes_volume) {
  const Mesh mesh(elements, mend::Rank{0}, 1);
  const HeatOperator heat = assembled(mesh);
  double total = 0;
  for (std::size_t entry = 0; entry < heat.mass.entries(); ++entry) total += heat.mass.values(entry);
  EXPECT_NEAR(total, 1, 1e-13);
}

TEST(Assembly, a_constant_temperature_conducts_nothing) {
  const Mesh mesh(elements, mend::Rank{0}, 1);
  const HeatOperator heat = assembled(mesh);
  const Vector ones("ones", static_cast<std::size_t>(mesh.known_count()));
  Kokkos::deep_copy(ones, 1);
  const Vector with_mass("M 1", heat.mass.rows());
  const Vector with_system("A 1", heat.system.rows());
  multiply(heat.mass, ones, with_mass);
  multiply(heat.system, ones, with_system);
  for (std::size_t row = 0; row < heat.mass.rows(); ++row) {
    EXPECT_GT(with_mass(row), 0);
    EXPECT_NEAR(with_system(row), with_mass(row), 1e-15) << "A - M = dt K must have row sums of zero";
  }
}

class AssemblyOnRanks : public testing::TestWithParam<int> {};

TEST_P(AssemblyOnRanks, gives_the_same_bits_as_on_one) {
  const Mesh whole(elements, mend::Rank{0}, 1);
  const HeatOperator expected = assembled(whole);
  std::int64_t rows = 0;
  for (int rank = 0; rank < GetParam(); ++rank) {
    const Mesh part(elements, mend::Rank{rank}, GetParam());
    const HeatOperator found = assembled(part);
    for (std::int64_t i = 0; i < part.owned().volume(); ++i, ++rows) {
      const Triple node = part.owned().at(i);
      expect_same_bits(row_of(part, found.mass, node), row_of(whole, expected.mass, node));
      expect_same_bits(row_of(part, found.system, node), row_of(whole, expected.system, node));
    }
  }
  EXPECT_EQ(rows, whole.nodes().volume());
}

INSTANTIATE_TEST_SUITE_P(Ranks, AssemblyOnRanks, testing::Values(2, 3, 4, 7));

TEST(Dirichlet, leaves_the_system_symmetric_and_the_walls_decoupled) {
  const Mesh mesh(elements, mend::Rank{0}, 1);
  const HeatOperator heat = assembled(mesh);
  apply_dirichlet(mesh, heat.system, 1);
  std::size_t walls = 0;
  for (std::int64_t i = 0; i < mesh.nodes().volume(); ++i) {
    const Triple node = mesh.nodes().at(i);
    const bool on_wall = mesh.geometry().on_wall(node);
    walls += on_wall ? 1 : 0;
    for (const auto& [column, value] : row_of(mesh, heat.system, node)) {
      const Triple other = mesh.nodes().at(column);
      const bool decoupled = column != i && (on_wall || mesh.geometry().on_wall(other));
      if (decoupled) {
        EXPECT_EQ(value, 0);
      }
      if (column == i) {
        EXPECT_GT(value, 0);
      }
      EXPECT_DOUBLE_EQ(value, row_of(mesh, heat.system, other).at(i));
    }
  }
  EXPECT_EQ(walls, static_cast<std::size_t>(7 * 6 * 5 - 5 * 4 * 3));
}

// Removing rows and columns must not change the equations: for any temperature that has the walls' value at the walls,
// the residual inside is the same in the reduced system as in the full one.
TEST(Dirichlet, says_the_same_as_the_full_system_for_temperatures_that_meet_the_walls) {
  constexpr double wall_temperature = 3;
  const Mesh mesh(elements, mend::Rank{0}, 1);
  const HeatOperator full = assembled(mesh);
  const HeatOperator reduced = assembled(mesh);
  const WallTerms wall = apply_dirichlet(mesh, reduced.system, wall_temperature);

  const Vector x("x", static_cast<std::size_t>(mesh.known_count()));
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    const bool on_wall = mesh.geometry().on_wall(mesh.places()(i));
    x(i) = on_wall ? wall_temperature : std::sin(static_cast<double>(i));
  }
  const Vector image("A x", x.extent(0));
  const Vector reduced_image("A' x", x.extent(0));
  multiply(full.system, x, image);
  multiply(reduced.system, x, reduced_image);
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    const bool on_wall = mesh.geometry().on_wall(mesh.places()(i));
    const double expected = on_wall ? wall.wall_rows(i) : image(i) - wall.subtract(i);
    EXPECT_NEAR(reduced_image(i), expected, 1e-15);
  }
}

}  // namespace
}  // namespace apps::minife
