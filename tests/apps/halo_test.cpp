#include "apps/stencil/halo.hpp"

#include "tests/apps/cart.hpp"

#include <gtest/gtest.h>

namespace {

using stencil::Box;
using stencil::Problem;

/// Fills the block with global cell numbers, exchanges, and compares every ghost cell behind a face with the number of
/// its cell in the periodic grid.
void expect_ghosts_are_the_neighbours_cells(const Problem& problem, int radius) {
  const mend::Communicator cart = periodic_cart(problem, radius);
  const Box block = stencil::own_block(problem, cart.get());
  const auto width = [&](std::size_t d) { return static_cast<std::size_t>(block.extent(d) + 2 * radius); };
  const stencil::Field field("field", width(0), width(1), width(2));

  const auto number_of = [&](std::array<int, 3> element) {
    std::array<int, 3> cell{};
    for (std::size_t d = 0; d < 3; ++d) {
      cell[d] = (block.begin[d] + element[d] - radius + problem.cells[d]) % problem.cells[d];
    }
    return static_cast<double>(stencil::global_index(problem, cell[0], cell[1], cell[2]));
  };
  /// Returns the number of axes along which an element lies outside the block.
  const auto axes_outside = [&](std::array<int, 3> element) {
    int outside = 0;
    for (std::size_t d = 0; d < 3; ++d)
      outside += element[d] < radius || element[d] >= radius + block.extent(d) ? 1 : 0;
    return outside;
  };
  const auto for_each_element = [&](auto visit) {
    for (int i = 0; i < static_cast<int>(width(0)); ++i) {
      for (int j = 0; j < static_cast<int>(width(1)); ++j) {
        for (int k = 0; k < static_cast<int>(width(2)); ++k) visit(std::array{i, j, k}, field(i, j, k));
      }
    }
  };

  for_each_element(
      [&](std::array<int, 3> element, double& value) { value = axes_outside(element) == 0 ? number_of(element) : -1; });

  stencil::Halo halo(cart.get(), block, radius);
  mend::Requests messages(cart.get());
  halo.begin(field, messages);
  messages.wait_all();
  halo.finish(field);

  int ghosts = 0;
  for_each_element([&](std::array<int, 3> element, double& value) {
    const int outside = axes_outside(element);
    if (outside > 1) return;  // edges and corners: a cross does not read them
    EXPECT_EQ(value, number_of(element)) << element[0] << ' ' << element[1] << ' ' << element[2];
    ghosts += outside;
  });
  EXPECT_EQ(ghosts, 2 * radius *
                        (block.extent(0) * block.extent(1) + block.extent(1) * block.extent(2) +
                         block.extent(2) * block.extent(0)));
}

TEST(Halo, brings_the_neighbours_cells) { expect_ghosts_are_the_neighbours_cells(Problem{{12, 10, 9}}, 1); }

TEST(Halo, brings_four_layers_for_the_wide_stencil) { expect_ghosts_are_the_neighbours_cells(Problem{{12, 10, 9}}, 4); }

TEST(Halo, works_on_blocks_as_thin_as_the_stencil_s_radius) {
  expect_ghosts_are_the_neighbours_cells(Problem{{8, 8, 4}}, 4);
}

}  // namespace
