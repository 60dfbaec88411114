#include "store/snapshot/memory/page_choice.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace {

using mend::Clock;
using mend::PageChoice;
using mend::PageSize;
using std::chrono::microseconds;

constexpr microseconds of_small{600};

/// The costs of `steps` steps in all, if a step with large pages costs what `of_large` says of it.
struct Spent {
  Clock::duration all{};
  int large = 0;
};
Spent populate(int steps, const std::function<Clock::duration(int step)>& of_large) {
  PageChoice choice;
  Spent spent;
  for (int step = 0; step < steps; ++step) {
    const PageSize size = choice.next();
    const Clock::duration cost = size == PageSize::large ? of_large(step) : Clock::duration(of_small);
    choice.note(size, cost);
    spent.all += cost;
    if (size == PageSize::large) ++spent.large;
  }
  return spent;
}

TEST(PageChoice, takes_large_pages_where_they_cost_less) {
  EXPECT_GT(populate(512, [](int) { return microseconds{200}; }).large, 512 * 9 / 10);
}

TEST(PageChoice, costs_less_than_one_and_a_half_times_small_pages_where_large_ones_cost_ten_times_as_much) {
  const Spent spent = populate(512, [](int) { return 10 * of_small; });
  EXPECT_LT(spent.all, 512 * of_small * 3 / 2);
  EXPECT_GE(spent.large, 2) << "they are tried again";
}

TEST(PageChoice, leaves_large_pages_when_they_become_slow) {
  const Spent spent = populate(512, [](int step) { return step < 256 ? of_small / 3 : 10 * of_small; });
  EXPECT_LT(spent.all, 512 * of_small * 5 / 4);
}

TEST(PageChoice, comes_back_to_large_pages_when_they_become_fast) {
  const Spent spent = populate(2048, [](int step) { return step < 256 ? 10 * of_small : of_small / 3; });
  EXPECT_GT(spent.large, 1024);
}

}  // namespace
