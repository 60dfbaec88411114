// Recoveries in a row that are alike: when a program runs in circles although it commits.

#include "framework/recovery/core/recovery_core.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace {

using mend::ProcessId;
using mend::ProcessSet;
using mend::Rank;
using mend::recovery::Course;
using mend::recovery::Row;

std::vector<Rank> ranks(const std::vector<int>& numbers) {
  std::vector<Rank> all;
  for (const int number : numbers) all.push_back(Rank{number});
  return all;
}

Row row_of(const std::vector<std::vector<int>>& recoveries) {
  Row row;
  for (const auto& lost : recoveries) row = row.with(ranks(lost));
  return row;
}

ProcessSet dead(const std::vector<std::uint32_t>& numbers) {
  ProcessSet all;
  for (const std::uint32_t number : numbers) all.insert(ProcessId{number});
  return all;
}

TEST(ARowOfRecoveries, goes_on_while_a_rank_has_lost_its_process_in_each) {
  EXPECT_EQ(row_of({{1}, {1}, {1}}).length, 3);
  EXPECT_EQ(row_of({{1, 2}, {2, 3}, {2}}), (Row{3, ranks({2})}));
}

TEST(ARowOfRecoveries, goes_on_while_nobody_dies) { EXPECT_EQ(row_of({{}, {}, {}}).length, 3); }

TEST(ARowOfRecoveries, ends_where_another_rank_dies_or_somebody_does) {
  EXPECT_EQ(row_of({{1}, {1}, {2}}), (Row{1, ranks({2})}));
  EXPECT_EQ(row_of({{1, 2}, {2, 3}, {1, 3}}), (Row{1, ranks({1, 3})})) << "none of them has died in all";
  EXPECT_EQ(row_of({{}, {}, {1}}), (Row{1, ranks({1})}));
  EXPECT_EQ(row_of({{1}, {1}, {}}), (Row{1, {}}));
}

TEST(ARowOfRecoveries, counts_those_who_held_a_rank_by_its_number_at_the_start) {
  Course course;
  course.before.seats = {{{{0}, {0}}, 0, Rank{0}}, {{{2}, {0}}, 0, Rank{2}}};
  course.before.spares = {{{3}, {0}}};
  course.row = {4, ranks({2})};
  EXPECT_EQ(course.row_with(dead({2, 3})), (Row{5, ranks({2})}));
  EXPECT_EQ(course.row_with(dead({3})), (Row{1, {}})) << "a spare is no rank";
}

}  // namespace
