// Conjugate gradients for the matrices of assembly.hpp, without a preconditioner, as in miniFE: one product with the
// matrix, two dot products and three vector updates in each iteration.
//
// Dot products are summed in a fixed order, so the iterates have the same bits whether or not the communicator was ever
// repaired, and every rank comes to the same result on convergence.

#pragma once

#include "apps/minife/halo_exchange.hpp"
#include "apps/minife/meters.hpp"

#include <functional>

namespace apps::minife {

struct SolverSettings {
  double tolerance = 1e-10;  ///< of the residual's norm, relative to the right-hand side's
  int max_iterations = 1000;
  /// Asked in every iteration whether all ranks may leave the solver. If empty, each rank uses its own result, which is
  /// the same everywhere as long as no process dies.
  std::function<bool(bool)> leave_together;
};

/// The outcome of a solve.
struct Solution {
  int iterations = 0;
  double residual = 0;           ///< the norm of b - A x, as computed by the recurrence
  double relative_residual = 0;  ///< the same, divided by the norm of b
  bool converged = false;
};

class ConjugateGradients {
 public:
  /// Works on the matrices of `mesh`. Local. `halo`, `comm` and `meters` must outlive this object.
  ConjugateGradients(const Mesh& mesh, HaloExchange& halo, MPI_Comm comm, Meters& meters);

  /// Solves `matrix` x = `b` for a symmetric positive definite matrix, beginning with the values of `x`. `x` has a
  /// value for every known node, `b` for every owned one; the halo of `x` is left out of date. Collective. Reaches the
  /// fault point `solve` in the third iteration. Throws mend::ProcessFailure.
  Solution solve(const SparseMatrix& matrix, const Vector& b, const Vector& x, const SolverSettings& settings);

 private:
  void multiply_with_halo(const SparseMatrix& matrix, const Vector& x, const Vector& y);
  double dot(const Vector& a, const Vector& b);
  /// to = a * x + b * y, over the owned nodes; `to` may be `x` or `y`.
  void waxpby(double a, const Vector& x, double b, const Vector& y, const Vector& to);

  HaloExchange& halo_;
  MPI_Comm comm_;
  Meters& meters_;
  std::size_t owned_;
  Vector residual_;
  Vector direction_;  // known nodes
  Vector image_;      // of the direction under the matrix
};

}  // namespace apps::minife
