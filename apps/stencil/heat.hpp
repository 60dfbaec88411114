// The solver: the temperature of one rank's block, and its time steps.

#pragma once

#include "apps/stencil/field.hpp"
#include "apps/stencil/halo.hpp"
#include "apps/stencil/scheme.hpp"
#include "base/clock.hpp"
#include "store/kokkos.hpp"

#include <cstdint>
#include <vector>

namespace stencil {

/// The distances of the computed temperature from the known solutions: root mean squares and maxima over all cells.
struct Errors {
  double equation_rms = 0;  ///< from the heat equation: the error of the grid and the time step
  double equation_max = 0;
  double scheme_rms = 0;  ///< from the exact result of the scheme: rounding errors only
  double scheme_max = 0;
};

class Heat {
 public:
  /// Uses `cart`, a periodic three-dimensional communicator with a block for every rank. Begins with the initial waves.
  /// Local.
  Heat(const Problem& problem, MPI_Comm cart);

  /// Does one time step. Collective over the communicator.
  void advance();

  /// Returns the temperature of the cells this rank owns. Each advance() computes into the other of two buffers, so
  /// call this again after it.
  Part temperature() const { return part_of(current_, own_); }
  /// Returns the same as a part of the whole grid, to be protected.
  mend::ArrayMember temperature_in_grid() const;

  /// Returns the FieldHash of the temperature. Collective; the same on every rank, for any number of ranks.
  std::uint64_t hash() const;

  /// Compares with the known solutions after `steps` steps. Collective; the same bits on every rank.
  Errors errors(int steps) const;

  /// Returns the plane of cells in the middle of z, as rows along y of values along x. Collective; only the result on
  /// rank 0 is valid.
  std::vector<double> slice() const;

  const Scheme& scheme() const { return scheme_; }
  mend::Seconds compute_time() const { return compute_time_; }
  mend::Seconds halo_time() const { return halo_time_; }

 private:
  using Owned = Kokkos::View<double***, Kokkos::LayoutRight>::HostMirror;

  void fill_with_initial_waves();
  void update(const Box& box);
  Owned owned_on_host() const;
  void for_each_owned(auto visit) const;

  Problem problem_;
  MPI_Comm cart_;
  Scheme scheme_;
  Box block_;  ///< the cells this rank owns, numbered in the whole grid
  Box own_;    ///< the same, as elements of the field
  Field current_;
  Field next_;
  Halo halo_;
  mend::Seconds compute_time_{};
  mend::Seconds halo_time_{};
};

/// Returns the elements of the block that depend on no ghost cell; may be empty.
Box interior_of(const Box& own, int radius);
/// Returns the rest of the block in disjoint boxes, some of which may be empty.
std::array<Box, 2 * axes> shell_of(const Box& own, const Box& interior);

}  // namespace stencil
