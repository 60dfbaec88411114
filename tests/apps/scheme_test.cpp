#include "apps/stencil/scheme.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace {

using stencil::central_second_derivative;
using stencil::Problem;
using stencil::Scheme;

TEST(Scheme, differences_are_exact_for_polynomials_up_to_their_order) {
  for (const int order : {2, 8}) {
    const auto derivative = central_second_derivative(order);
    for (int power = 0; power <= order + 1; ++power) {
      // The second derivative of x^power at 0 is 2 for x^2 and 0 otherwise.
      double sum = power == 0 ? derivative.weights[0] : 0;
      for (int j = 1; j <= derivative.radius; ++j) {
        sum += derivative.weights[static_cast<std::size_t>(j)] * (std::pow(j, power) + std::pow(-j, power));
      }
      EXPECT_NEAR(sum, power == 2 ? 2 : 0, 1e-10) << "order " << order << ", x^" << power;
    }
  }
}

TEST(Scheme, waves_are_differentiated_to_the_scheme_s_order) {
  for (const int order : {2, 8}) {
    const auto derivative = central_second_derivative(order);
    const auto error_at = [&](double angle) { return std::abs(derivative.symbol(angle) + angle * angle); };
    const double observed = std::log2(error_at(0.8) / error_at(0.4));
    EXPECT_NEAR(observed, order + 2, 0.2);
  }
}

TEST(Scheme, other_orders_are_refused) {
  for (const int order : {0, 1, 3, 4, 6, -2}) {
    EXPECT_THROW(central_second_derivative(order), mend::UsageError) << order;
  }
}

TEST(Scheme, the_largest_time_step_is_just_stable) {
  for (const int order : {2, 8}) {
    const Scheme scheme(Problem{{16, 24, 32}, order, 1.0});
    double lowest = 1;
    double highest = -1;
    for (int kx = 0; kx <= 8; ++kx) {
      for (int ky = 0; ky <= 12; ++ky) {
        for (int kz = 0; kz <= 16; ++kz) {
          lowest = std::min(lowest, scheme.amplification({kx, ky, kz}));
          highest = std::max(highest, scheme.amplification({kx, ky, kz}));
        }
      }
    }
    EXPECT_NEAR(lowest, -1, 1e-12);
    EXPECT_NEAR(highest, 1, 1e-12);
  }
}

TEST(Scheme, a_step_keeps_a_constant_temperature) {
  const Scheme scheme(Problem{{8, 9, 10}, 8, 0.8});
  double sum = scheme.centre;
  for (const auto& weights : scheme.axis) {
    for (int j = 1; j <= scheme.radius; ++j) sum += 2 * weights[static_cast<std::size_t>(j)];
  }
  EXPECT_NEAR(sum, 1, 1e-14);
}

}  // namespace
