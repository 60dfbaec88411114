// The solver: the temperature of one rank's block, and how it advances.

#pragma once

#include "apps/stencil/field.hpp"
#include "apps/stencil/halo.hpp"
#include "apps/stencil/scheme.hpp"
#include "base/clock.hpp"
#include "store/kokkos.hpp"

#include <cstdint>
#include <vector>

namespace stencil {

/// How far the computed temperature is from the known ones. Root mean squares and largest over all cells.
struct Errors {
  double equation_rms = 0;  ///< against the heat equation: what the grid and the time step cost
  double equation_max = 0;
  double scheme_rms = 0;  ///< against the exact result of the scheme: rounding alone
  double scheme_max = 0;
};

class Heat {
 public:
  /// On `cart`, a periodic three-dimensional communicator with a block for every rank; begins with the initial
  /// waves. Local.
  Heat(const Problem& problem, MPI_Comm cart);

  /// Does one time step. Collective over the communicator.
  void advance();

  /// The temperature of the cells this rank owns. Each advance() computes into another buffer than the one before:
  /// ask again after it.
  Part temperature() const { return part_of(current_, own_); }
  /// The same, as a part of the whole grid: to be protected.
  mend::ArrayMember temperature_in_grid() const;

  /// FieldHash of the temperature. Collective; the same on every rank, for any number of ranks.
  std::uint64_t hash() const;

  /// Compares with what is known to hold after `steps` steps. Collective; the same bits on every rank.
  Errors errors(int steps) const;

  /// The plane of cells halfway up z, as rows along y of values along x. Collective; rank 0 gets it, the others
  /// nothing of use.
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

/// The elements of the block that depend on no ghost cell; may be empty.
Box interior_of(const Box& own, int radius);
/// The rest of the block in disjoint boxes, some of which may be empty.
std::array<Box, 2 * axes> shell_of(const Box& own, const Box& interior);

}  // namespace stencil
