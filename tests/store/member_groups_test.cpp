// Members of one store with different redundancies, among real ranks.

#include "tests/store/epochs.hpp"
#include "tests/store/marked.hpp"

#include "base/error.hpp"
#include "base/telemetry/log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

namespace {

using mend::DataLoss;
using mend::Rank;
using mend::Redundancy;
using mend::UsageError;
using mend::Version;
using testing::HasSubstr;

Redundancy scheme(const char* text) { return Redundancy::parse(text); }

/// A field, and a table with a redundancy of its own.
class GroupedData {
 public:
  GroupedData(int rank, Redundancy of_table)
      : rank_(rank), of_table_(of_table), field_(100 * static_cast<std::size_t>(rank + 1)), table_(70) {}

  void protect_in(mend::Store& store) {
    store.protect("field", field_);
    store.protect("table", table_, of_table_);
  }
  void set(int step) {
    std::iota(field_.begin(), field_.end(), 1000.0 * rank_ + step);
    std::iota(table_.begin(), table_.end(), 100 * rank_ + step);
  }
  void expect(int step) const {
    GroupedData expected = *this;
    expected.set(step);
    EXPECT_EQ(field_, expected.field_);
    EXPECT_EQ(table_, expected.table_);
  }

 private:
  int rank_;
  Redundancy of_table_;
  std::vector<double> field_;
  std::vector<int> table_;
};

class MemberGroups : public testing::Test {
 protected:
  MemberGroups() { mend::log::set_level(mend::LogLevel::off); }
  ~MemberGroups() override { mend::log::set_level(mend::LogLevel::warn); }

  static Version commit(Epochs& epochs, GroupedData& data, int step) {
    data.set(step);
    data.protect_in(epochs.store());
    return epochs.store().commit();
  }
  static void expect_restored(Epochs& epochs, GroupedData& data, int step) {
    data.set(-1);
    data.protect_in(epochs.store());
    EXPECT_EQ(epochs.store().restore(), Version{static_cast<std::uint64_t>(step)});
    data.expect(step);
    epochs.store().finish_commit();  // the copies have come too
  }
  static std::string loss(Epochs& epochs, GroupedData& data) {
    data.protect_in(epochs.store());
    try {
      epochs.store().restore();
    } catch (const DataLoss& lost) {
      return lost.what();
    }
    return "(restored)";
  }
};

struct Row {
  const char* of_field;
  const char* of_table;
  std::vector<int> survived;
  std::vector<int> one_more;
  const char* lost;
};

/// On four ranks of one node, the copy of each rank is with the next rank.
const std::vector<Row> rows{{"partner", "xor:4", {0}, {0, 2}, "ranks 0, 2"},
                            {"xor:4", "replicas:2", {3}, {1, 2}, "ranks 1, 2"},
                            {"replicas:2", "rs:2+2", {0, 1}, {0, 1, 2}, "ranks 0, 1, 2"},
                            {"rs:2+2", "partner", {1, 3}, {1, 2}, "rank 1"},
                            {"partner", "local", {}, {2}, "rank 2"}};

TEST_F(MemberGroups, survive_exactly_what_all_their_redundancies_survive) {
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{} and {}", row.of_field, row.of_table));
    Epochs epochs({}, scheme(row.of_field));
    if (epochs.size() != 4) GTEST_SKIP() << "the table is for 4 ranks";
    GroupedData data(epochs.rank(), scheme(row.of_table));
    for (int step = 1; step <= 3; ++step)
      EXPECT_EQ(commit(epochs, data, step), Version{static_cast<std::uint64_t>(step)});
    for (int again = 0; again < 2; ++again) {  // after a repair the same losses are survived
      epochs.next(row.survived);
      expect_restored(epochs, data, 3);
    }
    commit(epochs, data, 4);
    epochs.next(row.one_more);
    EXPECT_THAT(loss(epochs, data), HasSubstr(fmt::format("the data of {} at version 4 is lost", row.lost)));
  }
}

TEST_F(MemberGroups, may_be_known_to_one_rank_alone_and_come_at_any_time) {
  Epochs epochs({}, {}, 3);
  if (epochs.size() < 3) GTEST_SKIP() << "needs 3 ranks";
  const int last = epochs.size() - 1;
  int everywhere = epochs.rank();
  int here = 42;
  epochs.store().protect("everywhere", everywhere);
  epochs.store().commit();
  if (epochs.rank() == last) epochs.store().protect("here", here, scheme("replicas:2"));
  epochs.store().commit();
  epochs.next({last});
  everywhere = here = -1;
  epochs.store().protect("everywhere", everywhere);
  if (epochs.rank() == last) epochs.store().protect("here", here, scheme("replicas:2"));
  EXPECT_EQ(epochs.store().restore(), Version{2});
  EXPECT_EQ(everywhere, epochs.rank());
  EXPECT_EQ(here, epochs.rank() == last ? 42 : -1);
  EXPECT_EQ(epochs.store().commit(), Version{3});
}

TEST_F(MemberGroups, are_not_in_versions_from_before_they_were) {
  Epochs epochs({}, {}, 3);
  int old = 1;
  int added = 2;
  epochs.store().protect("old", old);
  epochs.store().commit();
  epochs.store().protect("added", added, scheme("local"));
  epochs.store().commit();
  try {
    epochs.store().restore(Version{1});
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("member 'added' is protected now but was not when version 1 was committed, with redundancy local"));
  }
}

TEST_F(MemberGroups, give_a_member_up_that_is_protected_otherwise) {
  Epochs epochs;
  std::vector<int> values(1000, 7);
  epochs.store().protect("values", values, scheme("local"));
  epochs.store().commit();
  const auto bytes = epochs.store().statistics().snapshot_bytes;
  epochs.store().protect("values", values);
  epochs.store().commit();
  EXPECT_LE(epochs.store().statistics().snapshot_bytes, bytes) << "it is in one group alone";
  std::fill(values.begin(), values.end(), 0);
  EXPECT_EQ(epochs.store().restore(), Version{2});
  EXPECT_EQ(values, std::vector<int>(1000, 7));
}

TEST_F(MemberGroups, commit_asynchronously_what_was_protected_when_it_began) {
  Epochs epochs;
  int first = 1;
  int second = 2;
  epochs.store().protect("first", first);
  epochs.store().commit_async();
  epochs.store().protect("second", second, scheme("local"));
  EXPECT_EQ(epochs.store().finish_commit(), Version{1});
  epochs.store().commit_async();
  first = second = 0;
  EXPECT_EQ(epochs.store().finish_commit(), Version{2});
  EXPECT_EQ(epochs.store().restore(), Version{2});
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST_F(MemberGroups, without_members_are_nothing_to_lose) {
  Epochs epochs({}, scheme("local"));
  if (epochs.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  int value = 10 + epochs.rank();
  epochs.store().protect("value", value, scheme("partner"));
  epochs.store().commit();
  epochs.next({1});
  value = 0;
  epochs.store().protect("value", value, scheme("partner"));
  EXPECT_EQ(epochs.store().restore(), Version{1});
  EXPECT_EQ(value, 10 + epochs.rank());
}

TEST_F(MemberGroups, send_of_each_only_what_has_changed) {
  Epochs epochs;
  std::vector<double> large(std::size_t{1} << 20, 1.0);
  int step = 0;
  epochs.store().protect("large", large);
  epochs.store().protect("step", step, scheme("local"));
  for (; step < 4; ++step) epochs.store().commit();
  EXPECT_LT(epochs.store().statistics().changed_bytes, epochs.store().statistics().snapshot_bytes / 100);
  EXPECT_GT(epochs.store().statistics().snapshot_bytes, large.size() * sizeof(double));
}

/// What a group's members have changed while no commit had the group is known for its next commits.
TEST_F(MemberGroups, miss_no_change_when_a_commit_was_without_them) {
  Epochs epochs({}, {}, 2, std::nullopt, MPI_COMM_WORLD, mend::FindChanges::by_writes);
  std::vector<double> large(100'000, 1.0);
  int step = 0;
  epochs.store().protect("step", step, scheme("local"));
  epochs.store().protect("large", large);
  for (; step < 6; ++step) epochs.store().commit();  // from now on it is watched
  large[50'000] = 2.0;
  epochs.store().commit();
  epochs.store().unprotect("large");
  epochs.store().commit();
  epochs.store().protect("large", large);
  for (int i = 0; i < 4; ++i) {
    const Version version = epochs.store().commit();
    const auto packed = epochs.store().packed_member(version);
    ASSERT_EQ(packed.size(), large.size() * sizeof(double));
    EXPECT_EQ(std::memcmp(packed.data(), large.data(), packed.size()), 0) << "version " << version.value;
  }
}

/// The kernel can watch memory once. What one group has watched is watched by the other one that has the member then.
TEST_F(MemberGroups, watch_a_member_that_has_come_from_another_group) {
  if (!mend::DirtyPages::is_possible()) GTEST_SKIP() << "this kernel does not report which pages were written";
  Epochs epochs({}, {}, 2, std::nullopt, MPI_COMM_WORLD, mend::FindChanges::by_writes);
  std::vector<double> large(100'000, 1.0);
  const auto is_watched = [&] { return mend::DirtyPages::begin(std::as_bytes(std::span(large))) == nullptr; };
  for (const char* redundancy : {"partner", "local"}) {
    epochs.store().protect("large", large, scheme(redundancy));
    EXPECT_FALSE(is_watched());
    for (int i = 0; i < 6; ++i) epochs.store().commit();
    EXPECT_TRUE(is_watched()) << redundancy;
  }
  epochs.store().unprotect("large");
  EXPECT_FALSE(is_watched());
}

TEST_F(MemberGroups, are_refused_a_redundancy_that_so_few_ranks_cannot_have) {
  Epochs epochs;
  int value = 0;
  try {
    epochs.store().protect("value", value, scheme("rs:4+2"));
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr(fmt::format("redundancy rs:4+2 needs 6 ranks or more, and the job has {}", epochs.size())));
  }
}

/// Its text is "local", and the ranks tell each other their groups by texts.
TEST_F(MemberGroups, are_refused_a_redundancy_that_has_no_text) {
  Epochs epochs;
  int value = 0;
  try {
    epochs.store().protect("value", value, Redundancy{2, 0});
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("data 2 and parity 0 make no redundancy"));
  }
  epochs.store().protect("value", value, scheme("local"));
  EXPECT_EQ(epochs.store().commit(), Version{1});
}

TEST_F(MemberGroups, are_given_from_another_rank) {
  Epochs epochs;
  std::vector<int> table{epochs.rank(), 5};
  int field = epochs.rank();
  epochs.store().protect("field", field);
  epochs.store().protect("table", table, scheme("local"));
  epochs.store().commit();
  const int next = (epochs.rank() + 1) % epochs.size();
  EXPECT_EQ(epochs.store().restore_from(Rank{next}), Version{1});
  EXPECT_EQ(field, next);
  EXPECT_EQ(table, (std::vector<int>{next, 5}));
}

TEST_F(MemberGroups, are_made_good_each_from_its_own_copies) {
  Epochs epochs;
  if (epochs.size() < 3) GTEST_SKIP() << "needs 3 ranks";
  std::vector<int> field(100, epochs.rank());
  epochs.store().protect("field", field);
  epochs.store().protect("marked", std::make_unique<Marked>(), scheme("replicas:2"));
  epochs.store().commit();
  if (epochs.rank() == 1) *Marked::last_place ^= std::byte{1};
  Marked::got = {};
  std::fill(field.begin(), field.end(), -1);
  EXPECT_EQ(epochs.store().restore(), Version{1});
  EXPECT_EQ(Marked::got, std::byte{42});
  EXPECT_EQ(field, std::vector<int>(100, epochs.rank()));
}

TEST_F(MemberGroups, without_redundancy_and_damaged_take_the_version_with_them) {
  Epochs epochs;
  std::vector<int> field(100, 1);
  epochs.store().protect("field", field);
  epochs.store().protect("marked", std::make_unique<Marked>(), scheme("local"));
  epochs.store().commit();
  std::fill(field.begin(), field.end(), 2);
  epochs.store().commit();
  if (epochs.rank() == 0) *Marked::last_place ^= std::byte{1};
  EXPECT_EQ(epochs.store().restore(), Version{1}) << "all groups go back together";
  EXPECT_EQ(field, std::vector<int>(100, 1));
}

}  // namespace
