#include "framework/recovery_report.hpp"

#include "framework/epoch/recovery_clock.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

namespace {

using mend::Milliseconds;
using mend::ProcessId;
using mend::Rank;

TEST(RecoveryReport, tells_who_died_who_took_over_and_how_long_each_phase_took) {
  mend::RecoveryReport report;
  report.epoch = mend::Epoch{2};
  report.dead = {ProcessId{1}, ProcessId{5}};
  report.replacements = {{Rank{1}, ProcessId{1}, ProcessId{4}}};
  report.interrupt = Milliseconds{0.25};
  report.agree = Milliseconds{0.125};
  report.rebuild = Milliseconds{1};
  report.restore = Milliseconds{10.5};
  EXPECT_EQ(report.to_string(),
            "epoch 2: rank 1: process 1 died, process 4 took over; spare process 5 died; interrupt 0.25, agree 0.12, "
            "rebuild 1.00, restore 10.50 ms");
}

TEST(RecoveryReport, tells_of_several_replacements_in_rank_order) {
  mend::RecoveryReport report;
  report.epoch = mend::Epoch{1};
  report.dead = {ProcessId{0}, ProcessId{2}};
  report.replacements = {{Rank{0}, ProcessId{0}, ProcessId{4}}, {Rank{2}, ProcessId{2}, ProcessId{5}}};
  EXPECT_TRUE(report.to_string().starts_with(
      "epoch 1: rank 0: process 0 died, process 4 took over; rank 2: process 2 died, process 5 took over; interrupt"));
}

TEST(RecoveryReport, tells_of_ranks_that_were_given_up) {
  mend::RecoveryReport report;
  report.epoch = mend::Epoch{1};
  report.dead = {ProcessId{2}, ProcessId{3}};
  report.given_up = {{Rank{2}, ProcessId{2}}};
  EXPECT_TRUE(report.to_string().starts_with(
      "epoch 1: rank 2: process 2 died, the rank was given up; spare process 3 died; interrupt"));
}

TEST(RecoveryReport, has_one_time_line_whose_phases_are_not_negative_and_add_up) {
  const mend::WallClock::time_point start{std::chrono::hours(1)};
  const auto at = [&](int ms) { return start + std::chrono::milliseconds(ms); };
  mend::RecoveryReport report;
  const auto stamp = [&](int noticed) {
    mend::RecoveryClock clock;
    clock.notice(at(noticed));
    clock.leave_body(at(2));
    clock.agree_on_dead(at(5));
    clock.stamp(report, std::nullopt, at(9));
  };
  stamp(0);
  EXPECT_EQ(report.interrupt, Milliseconds{2});
  EXPECT_EQ(report.agree, Milliseconds{3});
  EXPECT_EQ(report.rebuild, Milliseconds{4});
  EXPECT_EQ(report.until_rebuilt(), Milliseconds{9});
  // The process had left the body before it noticed the death, and learned of it after the agreement.
  stamp(7);
  EXPECT_EQ(report.interrupt, Milliseconds{0});
  EXPECT_EQ(report.agree, Milliseconds{0});
  EXPECT_EQ(report.until_rebuilt(), Milliseconds{2});
  stamp(12);
  EXPECT_EQ(report.until_rebuilt(), Milliseconds{0});
}

TEST(RecoveryReport, of_which_several_are_summed_up_shows_phases_that_add_up_to_the_sum) {
  mend::RecoveryReport quick;
  quick.interrupt = Milliseconds{0.16};
  quick.agree = quick.rebuild = quick.restore = Milliseconds{0.16};
  mend::RecoveryReport slow = quick;
  slow.interrupt = Milliseconds{9};
  mend::RecoveryReport slow_otherwise = quick;
  slow_otherwise.restore = Milliseconds{7};
  EXPECT_THAT(mend::summarise(std::vector{quick}), testing::HasSubstr("0.6 ms until the data was back: interrupt 0.2, "
                                                                      "agree 0.1, rebuild 0.2, restore 0.1 ms"));
  EXPECT_THAT(mend::summarise(std::vector{slow, quick, slow_otherwise}),
              testing::HasSubstr("7.5 ms until the data was back (median; 9.5 at most): interrupt 0.2, agree 0.1, "
                                 "rebuild 0.2, restore 7.0 ms"));
}

TEST(RecoveryReport, of_several_is_summed_up_in_a_paragraph) {
  mend::RecoveryReport one;
  one.dead = {ProcessId{1}};
  one.replacements = {{Rank{1}, ProcessId{1}, ProcessId{4}}};
  one.interrupt = Milliseconds{1};
  one.agree = Milliseconds{2};
  one.rebuild = Milliseconds{3};
  one.restore = Milliseconds{4};
  EXPECT_EQ(
      mend::summarise(std::vector{one}),
      "1 recovery: 1 process died, 1 rank was taken over; 10.0 ms until the data was back: interrupt 1.0, agree 2.0, "
      "rebuild 3.0, restore 4.0 ms");
  mend::RecoveryReport other = one;
  other.dead = {ProcessId{2}, ProcessId{5}};
  other.replacements = {};
  other.given_up = {{Rank{2}, ProcessId{2}}};
  other.restore = Milliseconds{6};
  mend::RecoveryReport third = one;
  third.rebuild = Milliseconds{0};
  EXPECT_EQ(
      mend::summarise(std::vector{one, other, third}),
      "3 recoveries: 4 processes died, 2 ranks were taken over, 1 rank was given up; 10.0 ms until the data was back "
      "(median; 12.0 at most): interrupt 1.0, agree 2.0, rebuild 3.0, restore 4.0 ms");
}

}  // namespace
