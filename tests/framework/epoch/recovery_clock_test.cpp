// The phases in the report of a recovery.

#include "framework/epoch/recovery_clock.hpp"

#include <gtest/gtest.h>

namespace mend {
namespace {

using Moment = RecoveryClock::Moment;
using std::chrono::milliseconds;

constexpr Moment at(int ms) { return Moment{milliseconds(ms)}; }

TEST(TheClockOfARecovery, divides_it_into_phases) {
  RecoveryClock clock;
  clock.notice(at(10));
  clock.notice(at(11));
  clock.leave_body(at(13));
  clock.agree_on_dead(at(17));
  RecoveryReport report;
  clock.stamp(report, std::nullopt, at(25));
  EXPECT_EQ(report.noticed, at(10)) << "the first time counts";
  EXPECT_EQ(report.interrupt, Milliseconds{3});
  EXPECT_EQ(report.agree, Milliseconds{4});
  EXPECT_EQ(report.rebuild, Milliseconds{8});
}

TEST(TheClockOfARecovery, begins_with_the_death_where_that_is_known_to_be_earlier) {
  RecoveryClock clock;
  clock.notice(at(10));
  clock.leave_body(at(13));
  clock.agree_on_dead(at(17));
  RecoveryReport report;
  clock.stamp(report, at(8), at(25));
  EXPECT_EQ(report.noticed, at(8));
  clock.stamp(report, at(12), at(25));
  EXPECT_EQ(report.noticed, at(10));
}

TEST(TheClockOfARecovery, does_not_count_the_time_that_a_spare_has_waited_for_a_death_since_it_was_called) {
  RecoveryClock clock;
  clock.leave_body(at(13));
  clock.agree_on_dead(at(9'017));
  RecoveryReport report;
  clock.stamp(report, at(9'010), at(9'025));
  EXPECT_EQ(report.noticed, at(9'010));
  EXPECT_EQ(report.interrupt, Milliseconds{0});
  EXPECT_EQ(report.agree, Milliseconds{7});
  EXPECT_EQ(report.whole(), Milliseconds{15});
}

TEST(TheClockOfARecovery, begins_with_the_call_in_a_process_that_has_noticed_nothing) {
  RecoveryClock clock;
  clock.notice(at(1));
  clock.begin_epoch();
  clock.leave_body(at(13));
  clock.agree_on_dead(at(17));
  RecoveryReport report;
  clock.stamp(report, std::nullopt, at(25));
  EXPECT_EQ(report.noticed, at(13));
  EXPECT_EQ(report.interrupt, Milliseconds{0});
}

}  // namespace
}  // namespace mend
