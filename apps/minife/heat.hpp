// The heat equation in time: backward Euler, one linear solve a step.
//
//       (M + dt K) u_new = M (u_old + dt f_new)
//
// Mesh, matrix and everything else here follow from the settings, and are built anew whenever the body of mend::run is
// entered. The application protects the data that cannot be built anew: the temperature, and the progress in time.

#pragma once

#include "apps/minife/assembly.hpp"
#include "apps/minife/conjugate_gradients.hpp"
#include "apps/minife/halo_exchange.hpp"
#include "apps/minife/mesh/mesh.hpp"
#include "apps/minife/meters.hpp"
#include "store/kokkos.hpp"

#include <mpi.h>

namespace apps::minife {

struct HeatSettings {
  Triple elements{24, 24, 24};
  double dt = 0.005;  ///< in units of the diffusion time, see warming_box.hpp
  SolverSettings solver;
};

/// The progress of the computation. With the temperature, it is all that a restart needs.
struct TimeState {
  int step = 0;                ///< steps done
  long iterations = 0;         ///< of conjugate gradients, over all steps
  double residual = 0;         ///< relative, of the last solve
  double residuals_total = 0;  ///< absolute, summed over all solves: the solver's possible share in the error
};

/// The distance from the exact solution.
struct TemperatureError {
  double l2 = 0;     ///< the L2 norm, integrated with the values at the nodes
  double max = 0;    ///< at the worst node
  double bound = 0;  ///< the limit for l2: warming_box::error_bound
};

class Heat {
 public:
  /// Builds mesh and operator, and sets the initial temperature. Sends no messages. `comm` and `meters` must outlive
  /// this object. Reaches the fault point `assembly` before elements are integrated. Throws mend::UsageError as Mesh
  /// does.
  Heat(const HeatSettings& settings, MPI_Comm comm, Meters& meters);

  /// Does one step. Collective. Reaches the fault points `halo` and `solve`. Throws mend::ProcessFailure, and
  /// std::runtime_error on every rank if the solver does not converge.
  void advance();

  double time() const { return settings_.dt * state.step; }

  /// Compares with the exact solution. Collective; the same on every rank.
  TemperatureError error() const;
  /// Throws std::runtime_error on every rank if the error exceeds its bound (or is not a number). Collective.
  TemperatureError verified_error() const;

  const Mesh& mesh() const { return mesh_; }
  std::int64_t local_entries() const { return static_cast<std::int64_t>(heat_.system.entries()); }

  /// Returns the temperature of the owned nodes, in the order of their box.
  Vector temperature() const;
  /// Returns the same as a part of the mesh's nodes, z by y by x, to be protected.
  mend::ArrayMember temperature_in_mesh() const;
  TimeState state;

 private:
  void load(double time_after);

  HeatSettings settings_;
  MPI_Comm comm_;
  Meters& meters_;
  Mesh mesh_;
  HeatOperator heat_;
  WallTerms wall_;
  HaloExchange halo_;
  ConjugateGradients solver_;
  Vector temperature_;     // known nodes
  Vector old_and_source_;  // known nodes
  Vector right_side_;
};

}  // namespace apps::minife
