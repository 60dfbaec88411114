#include "apps/minife/conjugate_gradients.hpp"

#include "apps/common/ordered_sum.hpp"
#include "base/fault_point.hpp"

#include <cmath>

namespace apps::minife {
namespace {

// CUDA's compiler takes no kernel as a lambda in a private function of a class.

double own_dot(const Vector& a, const Vector& b, std::size_t count) {
  double dot = 0;
  Kokkos::parallel_reduce(
      "minife dot", Kokkos::RangePolicy<>(0, count), KOKKOS_LAMBDA(std::size_t i, double& sum) { sum += a(i) * b(i); },
      dot);
  return dot;
}

void add_scaled(double a, const Vector& x, double b, const Vector& y, const Vector& to, std::size_t count) {
  Kokkos::parallel_for(
      "minife waxpby", Kokkos::RangePolicy<>(0, count), KOKKOS_LAMBDA(std::size_t i) { to(i) = a * x(i) + b * y(i); });
}

}  // namespace

ConjugateGradients::ConjugateGradients(const Mesh& mesh, HaloExchange& halo, MPI_Comm comm, Meters& meters)
    : halo_(halo),
      comm_(comm),
      meters_(meters),
      owned_(static_cast<std::size_t>(mesh.owned_count())),
      residual_("cg, residual", owned_),
      direction_("cg, direction", static_cast<std::size_t>(mesh.known_count())),
      image_("cg, image", owned_) {}

Solution ConjugateGradients::solve(const SparseMatrix& matrix, const Vector& b, const Vector& x,
                                   const SolverSettings& settings) {
  const Measured measured(meters_[Phase::solve]);
  const double norm_of_b = std::sqrt(dot(b, b));
  multiply_with_halo(matrix, x, image_);
  waxpby(1, b, -1, image_, residual_);
  waxpby(1, residual_, 0, residual_, direction_);
  double rho = dot(residual_, residual_);

  Solution solution;
  while (true) {
    solution.residual = std::sqrt(rho);
    solution.relative_residual = norm_of_b > 0 ? solution.residual / norm_of_b : solution.residual;
    solution.converged = solution.residual <= settings.tolerance * norm_of_b;
    if (settings.leave_together) solution.converged = settings.leave_together(solution.converged);
    if (solution.converged || solution.iterations == settings.max_iterations) return solution;

    ++solution.iterations;
    multiply_with_halo(matrix, direction_, image_);
    if (solution.iterations == 3) mend::reach("solve");
    const double alpha = rho / dot(direction_, image_);
    waxpby(1, x, alpha, direction_, x);
    waxpby(1, residual_, -alpha, image_, residual_);
    const double previous = rho;
    rho = dot(residual_, residual_);
    waxpby(1, residual_, rho / previous, direction_, direction_);
  }
}

void ConjugateGradients::multiply_with_halo(const SparseMatrix& matrix, const Vector& x, const Vector& y) {
  const Measured measured(meters_[Phase::matvec], 2.0 * static_cast<double>(matrix.entries()));
  halo_.update(x);
  multiply(matrix, x, y);
  Kokkos::fence();
}

double ConjugateGradients::dot(const Vector& a, const Vector& b) {
  const Measured measured(meters_[Phase::dot], 2.0 * static_cast<double>(owned_));
  return ordered_sum(comm_, own_dot(a, b, owned_));
}

void ConjugateGradients::waxpby(double a, const Vector& x, double b, const Vector& y, const Vector& to) {
  const Measured measured(meters_[Phase::waxpby], 3.0 * static_cast<double>(owned_));
  add_scaled(a, x, b, y, to, owned_);
  Kokkos::fence();
}

}  // namespace apps::minife
