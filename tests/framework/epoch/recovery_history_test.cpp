// A process's history of the recoveries of its job, and of its present epoch.

#include "framework/epoch/recovery_history.hpp"

#include <gtest/gtest.h>

namespace mend {
namespace {

StoreStatistics statistics(std::uint64_t commits, Seconds commit_time, Seconds restore_time = {}) {
  StoreStatistics made;
  made.commits = commits;
  made.commit_time = commit_time;
  made.first_restore_time = restore_time;
  return made;
}

RecoveryReport of_epoch(std::uint32_t number) {
  RecoveryReport report;
  report.epoch = Epoch{number};
  return report;
}

TEST(AnEpoch, has_progressed_once_anything_was_committed_in_it) {
  RecoveryHistory history;
  history.begin_epoch(statistics(3, Seconds{6}));
  EXPECT_FALSE(history.has_progressed(statistics(3, Seconds{6})));
  EXPECT_TRUE(history.has_progressed(statistics(4, Seconds{8})));
  history.note_progress();
  EXPECT_TRUE(history.has_progressed(statistics(3, Seconds{6})));
  history.begin_epoch(statistics(3, Seconds{6}));
  EXPECT_FALSE(history.has_progressed(statistics(3, Seconds{6})));
}

TEST(AnEpoch, counts_its_own_commits) {
  RecoveryHistory history;
  history.begin_epoch(statistics(3, Seconds{6}));
  const auto commits = history.commits(statistics(5, Seconds{7.5}));
  EXPECT_EQ(commits.count, 2U);
  EXPECT_EQ(commits.time, Seconds{1.5});
}

TEST(TheLastRecovery, takes_until_the_data_is_back_from_whatever_store) {
  RecoveryHistory history;
  history.close_restore_time(statistics(0, {}, Seconds{1}));
  EXPECT_TRUE(history.recoveries().empty());
  history.add(of_epoch(1));
  history.begin_epoch(statistics(0, {}));
  history.note_restore(Seconds{0.25});
  history.close_restore_time(statistics(0, {}, Seconds{0.5}));
  EXPECT_EQ(history.recoveries().back().restore, Milliseconds{750});
}

TEST(TheLastRecoveries, are_no_more_than_there_were) {
  RecoveryHistory history;
  history.inherit({of_epoch(1), of_epoch(2), of_epoch(3)});
  EXPECT_EQ(history.last(2).front().epoch, Epoch{2});
  EXPECT_EQ(history.last(7).size(), 3U);
  EXPECT_TRUE(history.last(0).empty());
  EXPECT_TRUE(history.last(-1).empty());
}

}  // namespace
}  // namespace mend
