#include "framework/local_rollback/log_pacing.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace mend {
namespace {

constexpr std::uint64_t limit = 1'000'000;

/// The steps at which ranks ask, and those at which a commit is due, which is made; logs grow by `growth(step)`. An
/// asynchronous commit frees what was logged before it one step later.
struct PacingCourse {
  std::vector<std::uint64_t> asked;
  std::vector<std::uint64_t> due;
  std::uint64_t largest = 0;  ///< that a log has ever been
};

template <class Growth>
PacingCourse play(std::uint64_t steps, Growth growth, bool asynchronously = false) {
  PacingCourse course;
  LogPacing pacing;
  if (asynchronously) pacing.commits_asynchronously();
  std::uint64_t log = 0;
  std::uint64_t before_commit = 0;
  std::uint64_t of_interval = 0;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    log += growth(step);
    ++of_interval;
    course.largest = std::max(course.largest, log);
    log -= std::exchange(before_commit, 0);
    if (!pacing.step()) continue;
    course.asked.push_back(step);
    if (!pacing.hear(0, log, limit, of_interval)) continue;
    course.due.push_back(step);
    before_commit = asynchronously ? log : 0;
    log = before_commit;
    of_interval = 0;
  }
  return course;
}

TEST(LogPacing, asks_as_often_as_the_logarithm_of_the_steps_if_logs_stay_small) {
  const PacingCourse course = play(1'000'000, [](std::uint64_t) { return std::uint64_t{0}; });
  EXPECT_THAT(course.asked, testing::SizeIs(20));
  EXPECT_THAT(course.due, testing::IsEmpty());
}

TEST(LogPacing, has_all_commit_before_a_log_is_full) {
  for (const std::uint64_t growth : {100U, 1'000U, 7'000U, 30'000U, 200'000U}) {
    const PacingCourse course = play(20'000, [&](std::uint64_t) { return growth; });
    EXPECT_LE(course.largest, limit) << growth;
    const double least = 20'000.0 * static_cast<double>(growth) / limit;
    EXPECT_GE(static_cast<double>(course.due.size()), least) << growth;
    EXPECT_LE(static_cast<double>(course.due.size()), 2 * least + 1) << growth;
  }
}

TEST(LogPacing, has_all_commit_before_a_log_is_full_if_commits_are_asynchronous) {
  for (const std::uint64_t growth : {100U, 1'000U, 7'000U, 30'000U, 200'000U})
    EXPECT_LE(play(
                  20'000, [&](std::uint64_t) { return growth; }, true)
                  .largest,
              limit)
        << growth;
}

TEST(LogPacing, notices_soon_that_a_program_sends_more) {
  const PacingCourse course = play(4'000, [](std::uint64_t step) { return step < 1'000 ? 1U : 2'000U; });
  ASSERT_THAT(course.due, testing::Not(testing::IsEmpty()));
  EXPECT_LE(course.due.front(), 2'048U);  // it asks when it has done twice as many steps
}

TEST(LogPacing, does_not_take_the_log_of_the_setup_for_growth) {
  for (const std::uint64_t fixed : {limit / 2, limit / 10 * 9, limit, 2 * limit}) {
    LogPacing pacing;
    int due = 0;
    for (std::uint64_t step = 1; step <= 100; ++step)
      due += pacing.step() && pacing.hear(fixed, 10 * step, limit, step) ? 1 : 0;
    EXPECT_EQ(due, 0) << fixed;
  }
}

TEST(LogPacing, goes_on_as_the_others_with_the_state_of_a_commit) {
  LogPacing one;
  for (int i = 0; i < 37; ++i)
    if (one.step()) one.hear(0, 1'000U * static_cast<unsigned>(i), limit, static_cast<unsigned>(i));
  LogPacing other;
  other.set_state(one.state());
  for (int i = 0; i < 100; ++i) {
    const bool asks = one.step();
    ASSERT_EQ(asks, other.step());
    if (asks) {
      EXPECT_EQ(one.hear(1'000, 500'000, limit, 60), other.hear(1'000, 500'000, limit, 60));
    }
  }
  EXPECT_EQ(one.state(), other.state());
}

}  // namespace
}  // namespace mend
