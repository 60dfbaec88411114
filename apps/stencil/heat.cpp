#include "apps/stencil/heat.hpp"

#include "apps/common/field_hash.hpp"
#include "apps/common/ordered_sum.hpp"
#include "apps/stencil/waves.hpp"
#include "base/fault_point.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace stencil {
namespace {

Box elements_of(const Box& block, int radius) {
  Box own;
  for (std::size_t d = 0; d < axes; ++d) {
    own.begin[d] = radius;
    own.end[d] = radius + block.extent(d);
  }
  return own;
}

Field make_field(const std::string& name, const Box& block, int radius) {
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(block.extent(axis) + 2 * radius); };
  return Field(name, extent(0), extent(1), extent(2));
}

/// The weights in a form that a kernel can hold.
template <int radius>
struct Kernel {
  Field from;
  Field to;
  double centre;
  Kokkos::Array<Kokkos::Array<double, radius + 1>, axes> axis;

  KOKKOS_INLINE_FUNCTION void operator()(int i, int j, int k) const {
    double sum = centre * from(i, j, k);
    for (int r = 1; r <= radius; ++r) {
      sum += axis[0][r] * (from(i + r, j, k) + from(i - r, j, k));
      sum += axis[1][r] * (from(i, j + r, k) + from(i, j - r, k));
      sum += axis[2][r] * (from(i, j, k + r) + from(i, j, k - r));
    }
    to(i, j, k) = sum;
  }
};

template <int radius>
void update_box(const Scheme& scheme, const Field& from, const Field& to, const Box& box) {
  Kernel<radius> kernel{from, to, scheme.centre, {}};
  for (int d = 0; d < axes; ++d) {
    for (int r = 1; r <= radius; ++r) {
      kernel.axis[d][r] = scheme.axis[static_cast<std::size_t>(d)][static_cast<std::size_t>(r)];
    }
  }
  using Cells = Kokkos::MDRangePolicy<Kokkos::Rank<axes>, Kokkos::IndexType<int>>;
  Kokkos::parallel_for("diffuse",
                       Cells({box.begin[0], box.begin[1], box.begin[2]}, {box.end[0], box.end[1], box.end[2]}), kernel);
}

}  // namespace

Box interior_of(const Box& own, int radius) {
  Box interior = own;
  for (std::size_t d = 0; d < axes; ++d) {
    interior.begin[d] += radius;
    interior.end[d] -= radius;
  }
  // A block that is too thin to have an interior is all shell.
  if (interior.empty()) interior.begin = interior.end = own.end;
  return interior;
}

std::array<Box, 2 * axes> shell_of(const Box& own, const Box& interior) {
  std::array<Box, 2 * axes> shell;
  Box left = own;  // the part that is not in a slab yet
  for (std::size_t d = 0; d < axes; ++d) {
    Box& below = shell[2 * d] = left;
    Box& above = shell[2 * d + 1] = left;
    below.end[d] = interior.begin[d];
    above.begin[d] = interior.end[d];
    left.begin[d] = interior.begin[d];
    left.end[d] = interior.end[d];
  }
  return shell;
}

Heat::Heat(const Problem& problem, MPI_Comm cart)
    : problem_(problem),
      cart_(cart),
      scheme_(problem),
      block_(own_block(problem, cart)),
      own_(elements_of(block_, scheme_.radius)),
      current_(make_field("temperature", block_, scheme_.radius)),
      next_(make_field("temperature, next", block_, scheme_.radius)),
      halo_(cart, block_, scheme_.radius) {
  fill_with_initial_waves();
}

void Heat::fill_with_initial_waves() {
  const WavesOnBlock waves(problem_, block_);
  const auto heights = heights_by_scheme(scheme_, 0);
  const auto host = Kokkos::create_mirror_view(current_);
  const int radius = scheme_.radius;
  for (int i = 0; i < block_.extent(0); ++i) {
    for (int j = 0; j < block_.extent(1); ++j) {
      for (int k = 0; k < block_.extent(2); ++k) host(i + radius, j + radius, k + radius) = waves.at(heights, i, j, k);
    }
  }
  Kokkos::deep_copy(current_, host);
}

void Heat::advance() {
  mend::Stopwatch watch;
  mend::Requests messages(cart_);
  halo_.begin(current_, messages);
  mend::reach("halo");
  halo_time_ += watch.lap();

  const Box interior = interior_of(own_, scheme_.radius);
  update(interior);
  Kokkos::fence();
  compute_time_ += watch.lap();

  messages.wait_all();
  halo_.finish(current_);
  halo_time_ += watch.lap();

  for (const Box& slab : shell_of(own_, interior)) update(slab);
  Kokkos::fence();
  std::swap(current_, next_);
  compute_time_ += watch.lap();
}

void Heat::update(const Box& box) {
  if (box.empty()) return;
  if (scheme_.radius == 1) {
    update_box<1>(scheme_, current_, next_, box);
  } else {
    update_box<4>(scheme_, current_, next_, box);
  }
}

mend::ArrayMember Heat::temperature_in_grid() const {
  const mend::Extents grid(problem_.cells.begin(), problem_.cells.end());
  return mend::part(temperature(), grid, {block_.begin.begin(), block_.begin.end()});
}

Heat::Owned Heat::owned_on_host() const {
  const Part owned = temperature();
  const Kokkos::View<double***, Kokkos::LayoutRight> gapless("temperature, owned", owned.extent(0), owned.extent(1),
                                                             owned.extent(2));
  Kokkos::deep_copy(gapless, owned);
  const Owned host = Kokkos::create_mirror_view(gapless);
  Kokkos::deep_copy(host, gapless);
  return host;
}

/// Calls visit(i, j, k, value) for each cell of the block, in a fixed order.
void Heat::for_each_owned(auto visit) const {
  const Owned values = owned_on_host();
  for (int i = 0; i < block_.extent(0); ++i) {
    for (int j = 0; j < block_.extent(1); ++j) {
      for (int k = 0; k < block_.extent(2); ++k) visit(i, j, k, values(i, j, k));
    }
  }
}

std::uint64_t Heat::hash() const {
  apps::FieldHash hash;
  for_each_owned([&](int i, int j, int k, double value) {
    hash.add(global_index(problem_, block_.begin[0] + i, block_.begin[1] + j, block_.begin[2] + k), value);
  });
  return hash.total(cart_);
}

Errors Heat::errors(int steps) const {
  const WavesOnBlock waves(problem_, block_);
  const auto by_equation = heights_by_equation(scheme_, steps);
  const auto by_scheme = heights_by_scheme(scheme_, steps);

  std::array<double, 2> squares{};
  std::array<double, 2> largest{};
  for_each_owned([&](int i, int j, int k, double value) {
    const std::array errors{value - waves.at(by_equation, i, j, k), value - waves.at(by_scheme, i, j, k)};
    for (std::size_t e = 0; e < errors.size(); ++e) {
      squares[e] += errors[e] * errors[e];
      // Written so that a not-a-number is kept, which max() would drop.
      if (!(std::abs(errors[e]) <= largest[e])) largest[e] = std::abs(errors[e]);
    }
  });

  const auto sums = apps::ordered_sum(cart_, squares);
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), 2, MPI_DOUBLE, MPI_MAX, cart_);
  const double cells = static_cast<double>(problem_.cells[0]) * problem_.cells[1] * problem_.cells[2];
  return {.equation_rms = std::sqrt(sums[0] / cells),
          .equation_max = largest[0],
          .scheme_rms = std::sqrt(sums[1] / cells),
          .scheme_max = largest[1]};
}

std::vector<double> Heat::slice() const {
  const auto columns = static_cast<std::size_t>(problem_.cells[0]);
  const auto rows = static_cast<std::size_t>(problem_.cells[1]);
  const int middle = problem_.cells[2] / 2;

  // Each cell of the plane is owned once, so adding the shares of all ranks to zeros is exact.
  std::vector<double> share(columns * rows, 0.0);
  for_each_owned([&](int i, int j, int k, double value) {
    if (block_.begin[2] + k != middle) return;
    const auto x = static_cast<std::size_t>(block_.begin[0] + i);
    const auto y = static_cast<std::size_t>(block_.begin[1] + j);
    share[y * columns + x] = value;
  });
  std::vector<double> plane(share.size());
  MPI_Reduce(share.data(), plane.data(), static_cast<int>(share.size()), MPI_DOUBLE, MPI_SUM, 0, cart_);
  return plane;
}

}  // namespace stencil
