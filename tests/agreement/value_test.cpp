#include "agreement/message.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mend::agreement {
namespace {

Tally tally_of(Operation operation, std::uint64_t word) {
  Tally tally;
  tally.counted = true;
  tally.operation = operation;
  tally.value.words = {word, word, word, word};
  return tally;
}

std::uint64_t combined(Operation operation, std::uint64_t a, std::uint64_t b, const Operations& operations = {}) {
  Tally into = tally_of(operation, a);
  combine(into, tally_of(operation, b), operations);
  return into.value.words[3];
}

TEST(Value, combines_by_the_built_in_operations) {
  EXPECT_EQ(combined(Operation::bitwise_and, 6, 3), 2U);
  EXPECT_EQ(combined(Operation::bitwise_or, 6, 3), 7U);
  EXPECT_EQ(combined(Operation::minimum, 6, 3), 3U);
  EXPECT_EQ(combined(Operation::maximum, 6, 3), 6U);
}

struct Interval {
  double low;
  double high;
};
Interval hull(const Interval& a, const Interval& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

TEST(Value, combines_by_a_users_operation_on_a_users_type) {
  Operations operations;
  const Operation join = operations.add(combine_as<Interval, hull>);
  Value value = value_of(Interval{1.0, 2.5});
  operations.combine(join, value, value_of(Interval{-3.0, 1.0}));
  EXPECT_EQ(value_as<Interval>(value).low, -3.0);
  EXPECT_EQ(value_as<Interval>(value).high, 2.5);
}

TEST(Value, refuses_an_operation_nobody_has_added_and_two_different_ones) {
  EXPECT_THROW(combined(Operation::first_user, 1, 2), UsageError);
  Tally into = tally_of(Operation::minimum, 1);
  EXPECT_THROW(combine(into, tally_of(Operation::maximum, 1), {}), UsageError);
}

TEST(Tally, with_nothing_in_it_is_the_identity) {
  Tally into;
  combine(into, tally_of(Operation::bitwise_and, 5), {});
  combine(into, Tally{}, {});
  EXPECT_EQ(into, tally_of(Operation::bitwise_and, 5));
}

TEST(Tally, names_a_failure_that_not_all_have_acknowledged) {
  Tally into = tally_of(Operation::bitwise_and, 1);
  add_failures(into, ProcessSet{Member{4}});
  into.sets.open().acknowledged = ProcessSet{Member{4}};
  EXPECT_FALSE(decision_of(into).unacknowledged_failure);
  combine(into, tally_of(Operation::bitwise_and, 1), {});
  EXPECT_TRUE(decision_of(into).unacknowledged_failure);
  EXPECT_EQ(decision_of(into).failed, ProcessSet{Member{4}});
}

TEST(Tally, reports_an_old_failure_that_somebody_still_does_not_acknowledge) {
  Tally into = tally_of(Operation::bitwise_and, 1);
  Tally other = into;
  other.sets.open().unacknowledged = ProcessSet{Member{2}};
  combine(into, other, {});
  EXPECT_TRUE(decision_of(into).unacknowledged_failure);
  EXPECT_TRUE(decision_of(into).failed.empty());
}

TEST(Tally, unites_the_sets_that_members_bring) {
  Tally into = tally_of(Operation::bitwise_and, 1);
  into.sets.open().members = ProcessSet{Member{1}};
  Tally other = into;
  other.sets.open().members = ProcessSet{Member{7}};
  combine(into, other, {});
  EXPECT_EQ(decision_of(into).members, (ProcessSet{Member{1}, Member{7}}));
}

}  // namespace
}  // namespace mend::agreement
