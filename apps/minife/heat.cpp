#include "apps/minife/heat.hpp"

#include "apps/common/ordered_sum.hpp"
#include "apps/minife/mesh/element.hpp"
#include "apps/minife/warming_box.hpp"
#include "base/fault_point.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace apps::minife {
namespace {

mend::Rank rank_in(MPI_Comm comm) {
  int rank = 0;
  mend::check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return {rank};
}

int size_of(MPI_Comm comm) {
  int size = 0;
  mend::check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

HeatOperator build_operator(const Mesh& mesh, double dt, Meters& meters) {
  SparseMatrix structure;
  {
    const Measured measured(meters[Phase::structure]);
    structure = make_structure(mesh);
    Kokkos::fence();
  }
  mend::reach("assembly");
  const Measured measured(meters[Phase::assembly],
                          flops_per_element * static_cast<double>(mesh.touching_elements().volume()));
  HeatOperator heat = assemble(mesh, structure, dt);
  Kokkos::fence();
  return heat;
}

WallTerms impose_walls(const Mesh& mesh, const SparseMatrix& system, Meters& meters) {
  const Measured measured(meters[Phase::dirichlet]);
  WallTerms terms = apply_dirichlet(mesh, system, warming_box::wall_temperature);
  Kokkos::fence();
  return terms;
}

// CUDA's compiler takes no kernel as a lambda in a private function of a class, so these two are none of Heat's.

/// The temperature and what the source adds to it in a time step.
void feed(const Mesh& mesh, const Vector& temperature, double dt, double time_after, const Vector& fed) {
  const double strength = warming_box::strength(time_after);
  const double slope = warming_box::strength_slope(time_after);
  const auto places = mesh.places();
  const Geometry geometry = mesh.geometry();
  Kokkos::parallel_for(
      "minife feed", Kokkos::RangePolicy<>(0, fed.extent(0)), KOKKOS_LAMBDA(std::size_t i) {
        const Triple node = places(i);
        fed(i) = temperature(i) + dt * warming_box::source(strength, slope, geometry.coordinate(node, 0),
                                                           geometry.coordinate(node, 1), geometry.coordinate(node, 2));
      });
}

void impose_wall_temperature(const Mesh& mesh, const WallTerms& wall, const Vector& right_side) {
  const auto places = mesh.places();
  const Geometry geometry = mesh.geometry();
  Kokkos::parallel_for(
      "minife impose walls", Kokkos::RangePolicy<>(0, right_side.extent(0)), KOKKOS_LAMBDA(std::size_t i) {
        right_side(i) = geometry.on_wall(places(i)) ? wall.wall_rows(i) : right_side(i) - wall.subtract(i);
      });
}

}  // namespace

Heat::Heat(const HeatSettings& settings, MPI_Comm comm, Meters& meters)
    : settings_(settings),
      comm_(comm),
      meters_(meters),
      mesh_(settings.elements, rank_in(comm), size_of(comm)),
      heat_(build_operator(mesh_, settings.dt, meters)),
      wall_(impose_walls(mesh_, heat_.system, meters)),
      halo_(mesh_, comm),
      solver_(mesh_, halo_, comm, meters),
      temperature_("temperature", static_cast<std::size_t>(mesh_.known_count())),
      old_and_source_("old temperature and source", static_cast<std::size_t>(mesh_.known_count())),
      right_side_("right-hand side", static_cast<std::size_t>(mesh_.owned_count())) {
  Kokkos::deep_copy(temperature_, warming_box::wall_temperature);
}

void Heat::advance() {
  load(settings_.dt * (state.step + 1));
  const Solution solution = solver_.solve(heat_.system, right_side_, temperature_, settings_.solver);
  if (!solution.converged) {
    throw std::runtime_error(fmt::format(
        "step {}: conjugate gradients did not converge in {} iterations (relative residual {:.1e}, wanted {:.1e}): "
        "allow more with --max-iterations, or ask for less with --tolerance",
        state.step + 1, solution.iterations, solution.relative_residual, settings_.solver.tolerance));
  }
  state.step += 1;
  state.iterations += solution.iterations;
  state.residual = solution.relative_residual;
  state.residuals_total += solution.residual;
}

void Heat::load(double time_after) {
  const Measured measured(meters_[Phase::load], 2.0 * static_cast<double>(heat_.mass.entries()));
  halo_.update(temperature_);
  feed(mesh_, temperature_, settings_.dt, time_after, old_and_source_);
  multiply(heat_.mass, old_and_source_, right_side_);
  impose_wall_temperature(mesh_, wall_, right_side_);
  Kokkos::fence();
}

TemperatureError Heat::error() const {
  const double strength = warming_box::strength(time());
  const auto places = mesh_.places();
  const Geometry geometry = mesh_.geometry();
  const Vector computed = temperature_;
  double squares = 0;
  double worst = 0;
  Kokkos::parallel_reduce(
      "minife error", Kokkos::RangePolicy<>(0, static_cast<std::size_t>(mesh_.owned_count())),
      KOKKOS_LAMBDA(std::size_t i, double& sum, double& most) {
        const Triple node = places(i);
        const double error =
            computed(i) - warming_box::temperature(strength, geometry.coordinate(node, 0), geometry.coordinate(node, 1),
                                                   geometry.coordinate(node, 2));
        const double size = error < 0 ? -error : error;
        sum += error * error;
        if (size > most) most = size;
      },
      squares, Kokkos::Max<double>(worst));

  double worst_of_all = 0;
  mend::check_mpi(MPI_Allreduce(&worst, &worst_of_all, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  // Wall nodes have smaller volumes around them than the others, but no error.
  const double volume_of_node = 1 / static_cast<double>(mesh_.elements().volume());
  return {std::sqrt(ordered_sum(comm_, squares) * volume_of_node), worst_of_all,
          warming_box::error_bound(settings_.elements, settings_.dt, time(), state.residuals_total)};
}

TemperatureError Heat::verified_error() const {
  const TemperatureError found = error();
  // Written so that not-a-number, which compares false with everything, does not pass.
  if (!(found.l2 <= found.bound)) {
    throw std::runtime_error(fmt::format(
        "verification failed: after {} steps the temperature is {:.3e} from the exact solution in the L2 norm, "
        "and should be within {:.3e}",
        state.step, found.l2, found.bound));
  }
  return found;
}

Vector Heat::temperature() const {
  return Kokkos::subview(temperature_,
                         std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(mesh_.owned_count())));
}

mend::ArrayMember Heat::temperature_in_mesh() const {
  const auto z_y_x = [](auto of_axis) {
    return mend::Extents{static_cast<std::size_t>(of_axis(2)), static_cast<std::size_t>(of_axis(1)),
                         static_cast<std::size_t>(of_axis(0))};
  };
  const Box& owned = mesh_.owned();
  return mend::part(temperature(), z_y_x([&](int axis) { return mesh_.nodes().length(axis); }),
                    z_y_x([&](int axis) { return owned.lo[axis]; }),
                    z_y_x([&](int axis) { return owned.length(axis); }));
}

}  // namespace apps::minife
