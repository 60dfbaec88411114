#include "framework/commits/request_pacing.hpp"

#include <gtest/gtest.h>

namespace mend {
namespace {

/// How often ranks ask each other in `steps` steps that take `step_time` each, with a commit after every
/// `commit_every`.
int questions(int steps, Seconds step_time, int commit_every) {
  RequestPacing pacing;
  int asked = 0;
  Seconds since{0};
  for (int step = 1; step <= steps; ++step) {
    since += step_time;
    const bool asks = pacing.step();
    const bool is_due = step % commit_every == 0;
    if (!asks && !is_due) continue;
    pacing.begin_gap();
    if (!is_due) {
      pacing.hear(since);
      ++asked;
    }
    since = Seconds{0};
  }
  return asked;
}

TEST(RequestPacing, asks_once_a_second_after_a_short_time) {
  const int in_100_s = questions(100'000, Seconds{0.001}, 1'000'000);
  EXPECT_GE(in_100_s, 99);
  EXPECT_LE(in_100_s, 99 + 10);  // the gap doubles at first
}

TEST(RequestPacing, asks_at_each_step_that_takes_longer) { EXPECT_EQ(questions(50, Seconds{5}, 1'000'000), 50); }

TEST(RequestPacing, soon_asks_no_more_if_commits_come_more_often) {
  EXPECT_LE(questions(1'000'000, Seconds{0.001}, 100), 200);
}

TEST(RequestPacing, follows_steps_that_become_slower_and_faster) {
  RequestPacing pacing;
  for (int i = 0; i < 20; ++i) pacing.hear(Seconds{0.001});
  EXPECT_GT(pacing.gap(), 1000);
  for (int i = 0; i < 3; ++i) pacing.hear(pacing.gap() * Seconds{0.5});
  EXPECT_NEAR(pacing.gap(), 2, 0.1);
}

TEST(RequestPacing, begins_anew_in_each_epoch) {
  RequestPacing pacing;
  for (int i = 0; i < 5; ++i) pacing.hear(Seconds{0.001});
  pacing.restart();
  EXPECT_EQ(pacing.gap(), 1);
  EXPECT_TRUE(pacing.step());
}

}  // namespace
}  // namespace mend
