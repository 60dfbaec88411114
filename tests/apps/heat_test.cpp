#include "apps/stencil/heat.hpp"

#include "apps/stencil/waves.hpp"
#include "base/error.hpp"
#include "tests/apps/cart.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using stencil::Heat;
using stencil::Problem;

/// `steps` steps of `problem` on `cart`.
Heat run(const Problem& problem, MPI_Comm cart, int steps) {
  Heat heat(problem, cart);
  for (int step = 0; step < steps; ++step) heat.advance();
  return heat;
}

class HeatOfOrder : public testing::TestWithParam<int> {
 protected:
  Problem problem_{{20, 18, 16}, GetParam(), 0.8};
  int radius_ = stencil::central_second_derivative(GetParam()).radius;
};

TEST_P(HeatOfOrder, agrees_with_the_exact_result_of_the_scheme_to_rounding) {
  constexpr int steps = 50;
  const mend::Communicator cart = periodic_cart(problem_, radius_);
  const auto errors = run(problem_, cart.get(), steps).errors(steps);
  const double rounding = 16 * steps * std::numeric_limits<double>::epsilon() * stencil::largest_height();
  EXPECT_LT(errors.scheme_max, rounding);
  EXPECT_GT(errors.scheme_max, 0) << "a comparison of the result with itself";
  EXPECT_LE(errors.scheme_rms, errors.scheme_max);
}

TEST_P(HeatOfOrder, a_step_too_few_is_noticed) {
  const mend::Communicator cart = periodic_cart(problem_, radius_);
  EXPECT_GT(run(problem_, cart.get(), 49).errors(50).scheme_max, 1e-4);
}

TEST_P(HeatOfOrder, gives_the_same_bits_on_one_rank_as_on_many) {
  const mend::Communicator cart = periodic_cart(problem_, radius_);
  const std::uint64_t together = run(problem_, cart.get(), 20).hash();

  const stencil::Extents one_block{1, 1, 1};
  MPI_Comm alone = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_SELF, stencil::axes, one_block.data(), one_block.data(), 0, &alone);
  const mend::Communicator owner(alone);
  EXPECT_EQ(run(problem_, alone, 20).hash(), together);
}

TEST_P(HeatOfOrder, a_finer_grid_is_closer_to_the_equation) {
  const auto error_of = [&](int cells, int steps) {
    Problem problem = problem_;
    problem.cells = {cells, cells, cells};
    const mend::Communicator cart = periodic_cart(problem, radius_);
    return run(problem, cart.get(), steps).errors(steps).equation_rms;
  };
  // Half the spacing means a quarter of the time step, so four times the steps for the same time. Explicit Euler's
  // error is proportional to the time step, so both orders gain a factor of four or more.
  EXPECT_GT(error_of(16, 8) / error_of(32, 32), 3.5);
}

INSTANTIATE_TEST_SUITE_P(Orders, HeatOfOrder, testing::Values(2, 8),
                         [](const auto& instance) { return "of_order_" + std::to_string(instance.param); });

TEST(Heat, the_slice_is_the_plane_halfway_up) {
  const Problem problem{{12, 10, 8}, 2, 0.8};
  const mend::Communicator cart = periodic_cart(problem, 1);
  const Heat heat(problem, cart.get());
  const std::vector<double> plane = heat.slice();
  if (cart.rank() != 0) return;

  const stencil::WavesOnBlock waves(problem, {{0, 0, 0}, problem.cells});
  const auto heights = stencil::heights_by_scheme(heat.scheme(), 0);
  ASSERT_EQ(plane.size(), 120u);
  for (int x = 0; x < 12; ++x) {
    for (int y = 0; y < 10; ++y) EXPECT_EQ(plane[static_cast<std::size_t>(y * 12 + x)], waves.at(heights, x, y, 4));
  }
}

TEST(Blocks, follow_the_longest_axis) {
  EXPECT_EQ(stencil::choose_blocks(Problem{{4, 4, 100}}, 2, 1), (stencil::Extents{1, 1, 2}));
  EXPECT_EQ(stencil::choose_blocks(Problem{{4, 100, 50}}, 6, 1), (stencil::Extents{1, 3, 2}));
}

TEST(Blocks, thinner_than_the_stencil_reaches_are_refused) {
  EXPECT_THROW(stencil::choose_blocks(Problem{{1, 1, 1}}, 2, 1), mend::UsageError);
  EXPECT_THROW(stencil::choose_blocks(Problem{{7, 7, 7}, 8}, 8, 4), mend::UsageError);
  EXPECT_NO_THROW(stencil::choose_blocks(Problem{{8, 8, 8}, 8}, 8, 4));
}

}  // namespace
