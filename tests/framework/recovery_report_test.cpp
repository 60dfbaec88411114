#include "framework/recovery_report.hpp"

#include <gtest/gtest.h>

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

}  // namespace
