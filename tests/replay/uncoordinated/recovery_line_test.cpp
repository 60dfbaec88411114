// The recovery line for small tables.

#include "replay/uncoordinated/recovery_line.hpp"

#include <gtest/gtest.h>

namespace mend::replay {
namespace {

/// A rank in epoch `last` with commits from `first` on, which has sent nothing.
Report quiet(std::uint32_t first, std::uint32_t last, std::size_t ranks) {
  Report report{false, CommitEpoch{last}, {}, std::vector<Date>(ranks)};
  for (std::uint32_t epoch = first; epoch <= last; ++epoch) {
    report.rows.push_back({CommitEpoch{epoch}, std::vector<Date>(ranks), std::vector<Date>(ranks),
                           std::vector<std::optional<CommitEpoch>>(ranks), std::vector<Date>(ranks)});
  }
  return report;
}

void sent(Report& from, std::size_t row, std::size_t to, std::uint32_t received_in) {
  from.rows[row].received[to] = CommitEpoch{received_in};
}

const std::vector<int> each_its_own{0, 1, 2};

TEST(RecoveryLine, takes_back_only_the_failed_rank_if_nobody_has_sent_to_it) {
  std::vector<Report> reports(3, quiet(1, 2, 3));
  sent(reports[0], 1, 1, 2);
  reports[0].back = true;
  EXPECT_EQ(to_string(recovery_line(reports, each_its_own)), "0 to 2");
}

TEST(RecoveryLine, takes_back_who_has_sent_without_a_log_and_so_on) {
  std::vector<Report> reports(3, quiet(1, 2, 3));
  sent(reports[0], 1, 1, 2);
  sent(reports[1], 1, 2, 2);
  reports[2].back = true;
  EXPECT_EQ(to_string(recovery_line(reports, each_its_own)), "0 to 2, 1 to 2, 2 to 2");
}

TEST(RecoveryLine, takes_a_sender_back_to_the_epoch_in_which_it_has_sent) {
  std::vector<Report> reports(3, quiet(1, 3, 3));
  sent(reports[0], 1, 1, 2);
  reports[1] = quiet(1, 2, 3);
  reports[1].back = true;
  EXPECT_EQ(to_string(recovery_line(reports, each_its_own)), "0 to 2, 1 to 2");
}

TEST(RecoveryLine, leaves_a_sender_alone_whose_messages_were_received_before_the_commit) {
  std::vector<Report> reports(3, quiet(1, 2, 3));
  sent(reports[0], 0, 1, 1);
  reports[1].back = true;
  EXPECT_EQ(to_string(recovery_line(reports, each_its_own)), "1 to 2");
}

TEST(RecoveryLine, doubts_what_is_not_acknowledged_only_if_it_could_have_come_without_a_log) {
  std::vector<Report> reports(3, quiet(1, 2, 3));
  reports[0].rows[0].unacknowledged[1] = Date{3};
  reports[2].rows[1].unacknowledged[1] = Date{3};
  reports[1].back = true;
  EXPECT_EQ(to_string(recovery_line(reports, each_its_own)), "1 to 2, 2 to 2");
}

TEST(RecoveryLine, does_not_doubt_what_the_receiver_has_where_it_goes_back_to) {
  std::vector<Report> reports(3, quiet(1, 2, 3));
  reports[0].rows[1].unacknowledged[1] = Date{3};
  reports[1].back = true;
  reports[1].rows[1].had[0] = Date{2};
  EXPECT_EQ(to_string(recovery_line(reports, each_its_own)), "0 to 2, 1 to 2");
  reports[1].rows[1].had[0] = Date{3};
  EXPECT_EQ(to_string(recovery_line(reports, each_its_own)), "1 to 2");
}

TEST(RecoveryLine, takes_back_a_cluster_as_a_whole) {
  std::vector<Report> reports(3, quiet(1, 2, 3));
  reports[1].back = true;
  EXPECT_EQ(to_string(recovery_line(reports, std::vector<int>{0, 0, 1})), "0 to 2, 1 to 2");
  EXPECT_EQ(to_string(recovery_line(reports, std::vector<int>{0, 0, 0})), "0 to 2, 1 to 2, 2 to 2");
}

TEST(RecoveryLine, of_all_goes_below_the_smallest_epoch_if_a_message_went_back_in_epochs) {
  std::vector<Report> reports(3, quiet(1, 3, 3));
  sent(reports[0], 0, 1, 3);
  EXPECT_EQ(to_string(line_of_all(reports, each_its_own)), "0 to 1, 1 to 3, 2 to 3");
}

}  // namespace
}  // namespace mend::replay
