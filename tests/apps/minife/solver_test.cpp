// The parts that send messages, on the number of ranks with which the test is run.

#include "apps/minife/conjugate_gradients.hpp"
#include "apps/minife/field.hpp"
#include "apps/minife/heat.hpp"
#include "base/fault_point.hpp"
#include "transport/mpi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace apps::minife {
namespace {

constexpr Triple elements{7, 6, 5};

mend::Rank self() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return {rank};
}

int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

HeatSettings settings(int n, double dt) {
  HeatSettings settings;
  settings.elements = {n, n, n};
  settings.dt = dt;
  settings.solver.tolerance = 1e-12;
  return settings;
}

TEST(HaloExchange, brings_every_halo_node_its_owners_value) {
  const Mesh mesh(elements, self(), ranks());
  const auto value_of = [&](Triple node) { return static_cast<double>(mesh.nodes().index(node)) + 0.5; };
  const Vector vector("values", static_cast<std::size_t>(mesh.known_count()));
  Kokkos::deep_copy(vector, -1);
  for (int i = 0; i < mesh.owned_count(); ++i) vector(static_cast<std::size_t>(i)) = value_of(mesh.owned().at(i));

  HaloExchange halo(mesh, MPI_COMM_WORLD);
  halo.update(vector);
  for (std::size_t i = 0; i < vector.extent(0); ++i) EXPECT_EQ(vector(i), value_of(mesh.places()(i)));
}

/// The system of one time step, and a right-hand side with a known solution.
struct Posed {
  Mesh mesh{elements, self(), ranks()};
  HeatOperator heat = assemble(mesh, make_structure(mesh), 0.05);
  WallTerms wall = apply_dirichlet(mesh, heat.system, 1);
  HaloExchange halo{mesh, MPI_COMM_WORLD};
  Meters meters;
  ConjugateGradients solver{mesh, halo, MPI_COMM_WORLD, meters};
  Vector wanted{"wanted", static_cast<std::size_t>(mesh.known_count())};
  Vector right_side{"b", static_cast<std::size_t>(mesh.owned_count())};
  Vector x{"x", static_cast<std::size_t>(mesh.known_count())};

  Posed() {
    for (std::size_t i = 0; i < wanted.extent(0); ++i) {
      wanted(i) = std::sin(static_cast<double>(mesh.nodes().index(mesh.places()(i))));
    }
    multiply(heat.system, wanted, right_side);
  }

  double largest_error() const {
    double largest = 0;
    for (std::size_t i = 0; i < right_side.extent(0); ++i) largest = std::max(largest, std::abs(x(i) - wanted(i)));
    return largest;
  }
};

TEST(ConjugateGradients, finds_the_solution) {
  Posed posed;
  const Solution solution = posed.solver.solve(posed.heat.system, posed.right_side, posed.x, {1e-12, 500, {}});
  EXPECT_TRUE(solution.converged);
  EXPECT_GT(solution.iterations, 3);
  EXPECT_LE(solution.relative_residual, 1e-12);
  EXPECT_LT(posed.largest_error(), 1e-9);
}

TEST(ConjugateGradients, says_so_when_it_runs_out_of_iterations) {
  Posed posed;
  const Solution solution = posed.solver.solve(posed.heat.system, posed.right_side, posed.x, {1e-12, 4, {}});
  EXPECT_FALSE(solution.converged);
  EXPECT_EQ(solution.iterations, 4);
}

TEST(ConjugateGradients, needs_no_iteration_when_it_begins_with_the_solution) {
  Posed posed;
  Kokkos::deep_copy(posed.x, posed.wanted);
  EXPECT_EQ(posed.solver.solve(posed.heat.system, posed.right_side, posed.x, {1e-10, 500, {}}).iterations, 0);
}

TEST(ConjugateGradients, solves_for_nothing_with_nothing) {
  Posed posed;
  Kokkos::deep_copy(posed.right_side, 0);
  const Solution solution = posed.solver.solve(posed.heat.system, posed.right_side, posed.x, {1e-10, 500, {}});
  EXPECT_TRUE(solution.converged);
  EXPECT_EQ(solution.iterations, 0);
}

TEST(ConjugateGradients, leaves_only_when_all_ranks_may) {
  Posed plain;
  const int alone = plain.solver.solve(plain.heat.system, plain.right_side, plain.x, {1e-10, 500, {}}).iterations;

  // One rank, the last, refuses for two more iterations.
  Posed posed;
  int refusals_left = 2;
  int asked = 0;
  const auto leave_together = [&](bool converged) {
    ++asked;
    if (converged && self().value == ranks() - 1 && refusals_left-- > 0) converged = false;
    int mine = converged ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all != 0;
  };
  const Solution solution =
      posed.solver.solve(posed.heat.system, posed.right_side, posed.x, {1e-10, 500, leave_together});
  EXPECT_TRUE(solution.converged);
  EXPECT_EQ(solution.iterations, alone + 2);
  EXPECT_EQ(asked, solution.iterations + 1);
}

TEST(ConjugateGradients, measures_what_it_does) {
  Posed posed;
  const Solution solution = posed.solver.solve(posed.heat.system, posed.right_side, posed.x, {1e-10, 500, {}});
  const double products = solution.iterations + 1;
  EXPECT_EQ(posed.meters[Phase::matvec].flops, products * 2 * static_cast<double>(posed.heat.system.entries()));
  EXPECT_GT(posed.meters[Phase::dot].time.count(), 0);
  EXPECT_LE(posed.meters[Phase::matvec].time + posed.meters[Phase::dot].time + posed.meters[Phase::waxpby].time,
            posed.meters[Phase::solve].time);
}

TEST(FaultPoints, are_reached_where_the_help_says) {
  std::vector<std::string> reached;
  mend::on_fault_point([&](std::string_view point) { reached.emplace_back(point); });
  Meters meters;
  Heat heat(settings(6, 0.01), MPI_COMM_WORLD, meters);
  const std::vector<std::string> after_building = reached;
  heat.advance();
  mend::on_fault_point({});
  EXPECT_EQ(after_building, std::vector<std::string>{"assembly"});
  EXPECT_EQ(std::ranges::count(reached, "solve"), 1);
  EXPECT_EQ(std::ranges::count(reached, "halo"), heat.state.iterations + 2);
}

double error_after(int n, double dt, int steps) {
  Meters meters;
  Heat heat(settings(n, dt), MPI_COMM_WORLD, meters);
  for (int i = 0; i < steps; ++i) heat.advance();
  const TemperatureError error = heat.error();
  EXPECT_LE(error.l2, error.bound) << n << " elements, dt " << dt;
  EXPECT_GE(error.l2, error.bound / 30) << "the bound has become too generous to catch anything";
  EXPECT_LE(error.l2, error.max);
  return error.l2;
}

TEST(Heat, error_falls_with_the_square_of_the_mesh_width_and_the_time_step) {
  const double coarse = error_after(5, 0.016, 6);
  const double fine = error_after(10, 0.004, 24);
  const double finest = error_after(20, 0.001, 96);
  EXPECT_NEAR(coarse / fine, 4, 0.3);
  EXPECT_NEAR(fine / finest, 4, 0.1);
}

TEST(Heat, error_stays_within_its_bound_on_flat_and_long_meshes) {
  for (const Triple flat : {Triple{16, 4, 8}, Triple{3, 12, 5}}) {
    Meters meters;
    HeatSettings chosen = settings(1, 0.01);
    chosen.elements = flat;
    Heat heat(chosen, MPI_COMM_WORLD, meters);
    for (int i = 0; i < 10; ++i) heat.advance();
    EXPECT_NO_THROW(heat.verified_error());
  }
}

TEST(Heat, verification_catches_one_wrong_temperature_field) {
  Meters meters;
  Heat heat(settings(8, 0.005), MPI_COMM_WORLD, meters);
  for (int i = 0; i < 10; ++i) heat.advance();
  EXPECT_NO_THROW(heat.verified_error());

  heat.state.step -= 4;  // the temperature of another time
  EXPECT_THROW(heat.verified_error(), std::runtime_error);
  heat.state.step += 4;

  if (self().value == 0) heat.temperature()(0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(heat.verified_error(), std::runtime_error);
}

TEST(Heat, says_what_to_do_when_the_solver_does_not_converge) {
  Meters meters;
  HeatSettings hasty = settings(8, 0.005);
  hasty.solver.max_iterations = 2;
  Heat heat(hasty, MPI_COMM_WORLD, meters);
  try {
    heat.advance();
    FAIL() << "it should not have converged";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("--max-iterations"), std::string::npos);
  }
}

TEST(Heat, a_run_cut_in_two_gives_the_bits_of_a_run_in_one) {
  Meters meters;
  Heat whole(settings(8, 0.005), MPI_COMM_WORLD, meters);
  for (int i = 0; i < 8; ++i) whole.advance();

  Heat first(settings(8, 0.005), MPI_COMM_WORLD, meters);
  for (int i = 0; i < 3; ++i) first.advance();
  Heat second(settings(8, 0.005), MPI_COMM_WORLD, meters);
  Kokkos::deep_copy(second.temperature(), first.temperature());
  second.state = first.state;
  for (int i = 0; i < 5; ++i) second.advance();

  EXPECT_EQ(field_hash(second, MPI_COMM_WORLD), field_hash(whole, MPI_COMM_WORLD));
  EXPECT_NE(field_hash(first, MPI_COMM_WORLD), field_hash(whole, MPI_COMM_WORLD));
  EXPECT_EQ(second.state.iterations, whole.state.iterations);
  EXPECT_EQ(second.state.residual, whole.state.residual);
}

TEST(Field, the_middle_slice_is_warm_in_the_middle_and_at_wall_temperature_at_the_rim) {
  Meters meters;
  Heat heat(settings(8, 0.005), MPI_COMM_WORLD, meters);
  for (int i = 0; i < 10; ++i) heat.advance();
  const Slice slice = middle_slice(heat, MPI_COMM_WORLD);
  ASSERT_EQ(slice.columns, 9u);
  ASSERT_EQ(slice.rows, 9u);
  if (self().value != 0) return;
  ASSERT_EQ(slice.values.size(), 81u);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(slice.values[i], 1, 1e-9);
    EXPECT_NEAR(slice.values[9 * i], 1, 1e-9);
  }
  EXPECT_NEAR(slice.values[4 * 9 + 4], 2 - std::exp(-0.5), 0.05);
  EXPECT_GT(slice.values[4 * 9 + 4], slice.values[4 * 9 + 2]);
}

}  // namespace
}  // namespace apps::minife
