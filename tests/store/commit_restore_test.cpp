// Commits and restores among real ranks. A rank that "loses its memory" represents one that died and was replaced.

#include "tests/store/epochs.hpp"
#include "tests/store/marked.hpp"
#include "tests/store/messages.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/log.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace {

using mend::DataLoss;
using mend::NodeId;
using mend::ProcessFailure;
using mend::Store;
using mend::UsageError;
using mend::Version;
using mend::agreement::Proposal;
using testing::HasSubstr;
using namespace std::string_view_literals;

/// The data of a rank: of a different size on each rank, and of another kind on odd ranks.
class Data {
 public:
  explicit Data(int rank, std::size_t scale = 100) : rank_(rank), field_(scale * static_cast<std::size_t>(rank + 1)) {
    set(0);
  }

  void protect_in(Store& store) {
    store.protect("field", field_);
    store.protect("step", step_);
    if (rank_ % 2 == 1) store.protect("only on odd ranks", extra_);
  }

  /// Sets the data to that of step `step`.
  void set(int step) {
    step_ = step;
    std::iota(field_.begin(), field_.end(), 1000.0 * rank_ + step);
    extra_ = {step, -rank_};
  }
  void expect(int step) const {
    Data expected = *this;
    expected.set(step);
    EXPECT_EQ(step_, step);
    EXPECT_EQ(field_, expected.field_);
    EXPECT_TRUE(rank_ % 2 == 0 || extra_ == expected.extra_);
  }

 private:
  int rank_;
  int step_ = 0;
  std::vector<double> field_;
  std::array<int, 2> extra_{};
};

class Stores : public testing::Test {
 protected:
  Stores() { mend::log::set_level(mend::LogLevel::off); }  // damaged copies are reported
  ~Stores() override {
    mend::log::set_level(mend::LogLevel::warn);
    mend::on_fault_point({});
  }

  /// All ranks commit the data of step `step`.
  static void commit(Epochs& epochs, Data& data, int step) {
    data.set(step);
    data.protect_in(epochs.store());
    epochs.store().commit();
  }
  /// All ranks restore, and must have the data of step `step`.
  static void expect_restored(Epochs& epochs, Data& data, int step, Version version) {
    data.set(-1);
    data.protect_in(epochs.store());
    EXPECT_EQ(epochs.store().restore(), version);
    data.expect(step);
    epochs.store().finish_commit();  // the copies have come too
  }
  /// Has `victim` lose its memory, and restores version 1. The copies that it kept are on their way to it.
  static void restore_without_copies(Epochs& epochs, Data& data, int victim) {
    epochs.next({victim});
    data.protect_in(epochs.store());
    EXPECT_EQ(epochs.store().restore(), Version{1});
    data.expect(1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
};

TEST_F(Stores, give_back_what_was_committed_last) {
  Epochs epochs;
  Data data(epochs.rank());
  for (int step = 1; step <= 5; ++step) {
    data.set(step);
    data.protect_in(epochs.store());
    EXPECT_EQ(epochs.store().commit(), Version{static_cast<std::uint64_t>(step)});
    EXPECT_EQ(epochs.store().version(), Version{static_cast<std::uint64_t>(step)});
    expect_restored(epochs, data, step, Version{static_cast<std::uint64_t>(step)});
  }
}

TEST_F(Stores, leave_everything_alone_before_the_first_commit) {
  Epochs epochs;
  Data data(epochs.rank());
  data.set(3);
  data.protect_in(epochs.store());
  EXPECT_EQ(epochs.store().restore(), Version{});
  data.expect(3);
  epochs.next({0});
  data.protect_in(epochs.store());
  EXPECT_EQ(epochs.store().restore(), Version{}) << "nor after a failure";
  data.expect(3);
}

TEST_F(Stores, bring_back_what_any_one_rank_has_lost) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
  Data data(epochs.rank());
  commit(epochs, data, 1);
  commit(epochs, data, 2);
  // One rank after another, and each time everything must become redundant again.
  for (int round = 0; round < 2; ++round) {
    for (int victim = 0; victim < epochs.size(); ++victim) {
      epochs.next({victim});
      expect_restored(epochs, data, 2, Version{2});
    }
  }
  commit(epochs, data, 3);
  epochs.next({0});
  expect_restored(epochs, data, 3, Version{3});
}

TEST_F(Stores, bring_back_a_rank_that_is_lost_again_before_its_copies_have_come) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
  Data data(epochs.rank(), 300'000);
  commit(epochs, data, 1);
  for (int round = 0; round < 3; ++round) {
    restore_without_copies(epochs, data, 1);
  }
}

TEST_F(Stores, give_back_what_was_committed_or_nothing_when_a_holder_is_lost_before_its_copies_have_come) {
  for (int round = 0; round < 5; ++round) {
    Epochs epochs;
    if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
    Data data(epochs.rank(), 300'000);
    commit(epochs, data, 1);
    restore_without_copies(epochs, data, 1);  // which keeps the copy of rank 0's data
    epochs.next({0});
    data.protect_in(epochs.store());
    try {
      EXPECT_EQ(epochs.store().restore(), Version{1});
      data.expect(1);
    } catch (const mend::DataLoss&) {
    }
  }
}

TEST_F(Stores, do_not_count_copies_that_an_interruption_has_ended) {
  for (int round = 0; round < 5; ++round) {
    Epochs epochs;
    if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
    Data data(epochs.rank(), 300'000);
    commit(epochs, data, 1);
    restore_without_copies(epochs, data, 1);  // which keeps the copy of rank 0's data
    epochs.interrupt();
    try {
      epochs.store().finish_commit();
    } catch (const mend::ProcessFailure&) {
    }
    epochs.next();
    expect_restored(epochs, data, 1, Version{1});
    epochs.next({0});
    expect_restored(epochs, data, 1, Version{1});
  }
}

TEST_F(Stores, count_copies_that_come_while_the_application_goes_on) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
  Data data(epochs.rank(), 200'000);
  commit(epochs, data, 1);
  for (int victim = 0; victim < epochs.size(); ++victim) {
    restore_without_copies(epochs, data, victim);
    int any_protects = 1;
    while (any_protects != 0) {
      epochs.store().complete_pending();
      any_protects = epochs.store().is_redundant() ? 0 : 1;
      MPI_Allreduce(MPI_IN_PLACE, &any_protects, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
  }
}

TEST_F(Stores, bring_back_large_data) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
  Data data(epochs.rank(), 200'000);
  commit(epochs, data, 1);
  epochs.next({epochs.size() - 1});
  expect_restored(epochs, data, 1, Version{1});
}

TEST_F(Stores, bring_back_what_a_whole_node_has_lost) {
  if (Epochs().size() != 4) GTEST_SKIP() << "two nodes of two ranks are wanted";
  Epochs epochs({NodeId{0}, NodeId{0}, NodeId{1}, NodeId{1}});
  Data data(epochs.rank());
  commit(epochs, data, 1);
  epochs.next({0, 1});
  expect_restored(epochs, data, 1, Version{1});
  epochs.next({2, 3});
  expect_restored(epochs, data, 1, Version{1});
}

/// Commits, has `victims` lose their memory, and restores; in every scheme that this number of ranks can have.
TEST_F(Stores, rebuild_what_so_many_ranks_as_the_redundancy_survives_have_lost) {
  for (const char* scheme : {"replicas:2", "xor:3", "xor:4", "rs:2+2"}) {
    const auto redundancy = mend::Redundancy::parse(scheme);
    if (Epochs().size() < redundancy.least_ranks()) continue;
    for (const std::size_t scale : {std::size_t{1}, std::size_t{100'000}}) {
      SCOPED_TRACE(testing::Message() << scheme << " of " << scale);
      Epochs epochs({}, redundancy);
      Data data(epochs.rank(), scale);
      commit(epochs, data, 1);
      commit(epochs, data, 2);
      for (int first = 0; first < epochs.size(); ++first) {
        std::vector<int> victims;
        for (int i = 0; i < redundancy.parity; ++i) victims.push_back((first + 2 * i) % epochs.size());
        epochs.next(victims);
        expect_restored(epochs, data, 2, Version{2});
      }
      commit(epochs, data, 3);
      epochs.next({0});
      expect_restored(epochs, data, 3, Version{3});
    }
  }
}

TEST_F(Stores, rebuild_a_damaged_snapshot_from_parities) {
  Epochs epochs;
  if (epochs.size() < 3) GTEST_SKIP() << "a group of three is wanted";
  Epochs grouped({}, mend::Redundancy::parse("xor:3"));
  Data data(grouped.rank());
  const auto protect_marked = [&] { grouped.store().protect("marked", std::make_unique<Marked>()); };
  protect_marked();
  commit(grouped, data, 1);
  if (grouped.rank() == 1) *Marked::last_place ^= std::byte{1};
  grouped.next();
  protect_marked();
  expect_restored(grouped, data, 1, Version{1});
}

/// Unchanged pages are not packed again, but parities are made from them too.
TEST_F(Stores, do_not_make_parities_of_what_was_damaged_where_it_lay) {
  for (const char* scheme : {"xor:3", "rs:2+2"}) {
    const auto redundancy = mend::Redundancy::parse(scheme);
    if (Epochs().size() < redundancy.least_ranks()) continue;
    SCOPED_TRACE(scheme);
    Epochs epochs({}, redundancy);
    std::vector<double> field(100 * mend::page_bytes / sizeof(double), epochs.rank());
    const auto protect = [&] {
      epochs.store().protect("field", field);
      epochs.store().protect("marked", std::make_unique<Marked>());
    };
    protect();
    for (int step = 1; step <= 6; ++step) {
      if (epochs.rank() != 1) std::iota(field.begin(), field.end(), step);
      epochs.store().commit();
      // In the middle of the field, which lies before the marked place. The slot of this version is used again two
      // commits later.
      if (step == 4 && epochs.rank() == 1)
        Marked::last_place[-50 * static_cast<std::ptrdiff_t>(mend::page_bytes)] ^= std::byte{1};
    }
    const std::vector<double> committed = field;
    epochs.next({1});
    field.assign(field.size(), -1);
    protect();
    EXPECT_EQ(epochs.store().restore(), Version{6});
    EXPECT_EQ(field, committed);
  }
}

/// Its bytes are written to the snapshot before the commit.
class WrittenBefore final : public mend::Member {
 public:
  std::string shape() const override { return "written before"; }
  mend::ByteCount size() const override { return 0; }
  void pack(std::span<std::byte>) const override {}
  void unpack(std::span<const std::byte>) override {}
};

/// A page that is the same as in the slot is not copied there, although it may be damaged. The parities are not made
/// of it: the commit is refused until the page is written once more.
TEST_F(Stores, refuse_damage_in_a_snapshot_in_parts_until_it_is_written_once_more) {
  const auto redundancy = mend::Redundancy::parse("xor:3");
  if (Epochs().size() < redundancy.least_ranks()) GTEST_SKIP() << "a group of three is wanted";
  Epochs epochs({}, redundancy);
  std::vector<std::byte> data(6 * mend::page_bytes, std::byte{9});
  const auto protect = [&] { epochs.store().protect("parts", std::make_unique<WrittenBefore>()); };
  const auto write = [&] { epochs.store().pack_in_parts(data.size()).write(0, data); };
  protect();
  for (int step = 1; step <= 3; ++step) {
    if (epochs.rank() != 1) std::ranges::fill(data, static_cast<std::byte>(step));  // all parities are made anew
    write();
    if (step == 3 && epochs.rank() == 1)
      epochs.store().pack_in_parts(data.size()).data()[mend::page_bytes] ^= std::byte{1};
    if (step < 3) epochs.store().commit();
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(epochs.store().commit(), mend::RefusedCommit) << "attempt " << i;
    EXPECT_EQ(epochs.store().version(), Version{2});
  }
  write();
  EXPECT_EQ(epochs.store().commit(), Version{3});
  epochs.next({1});
  protect();
  EXPECT_EQ(epochs.store().restore(), Version{3});
  EXPECT_TRUE(std::ranges::equal(epochs.store().packed_member(Version{3}), data));
}

TEST_F(Stores, go_back_to_the_version_before_when_the_last_one_comes_damaged) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
  Data data(epochs.rank(), 50'000);
  commit(epochs, data, 1);
  commit(epochs, data, 2);
  epochs.next({1});
  messages::are_damaged = true;
  expect_restored(epochs, data, 1, Version{1});
  EXPECT_FALSE(epochs.rank() == 2 % epochs.size() && messages::are_damaged) << "nothing was damaged";
  messages::are_damaged = false;
  commit(epochs, data, 2);
  expect_restored(epochs, data, 2, Version{2});
}

/// A member that sometimes cannot be packed.
class Moody final : public mend::Member {
 public:
  explicit Moody(const bool& refuses) : refuses_(&refuses) {}
  std::string shape() const override { return "moody"; }
  mend::ByteCount size() const override {
    if (*refuses_) throw std::runtime_error("not today");
    return 1;
  }
  void pack(std::span<std::byte> to) const override { to.front() = std::byte{}; }
  void unpack(std::span<const std::byte>) override {}

 private:
  const bool* refuses_;
};

TEST_F(Stores, have_all_their_versions_still_when_a_commit_was_refused) {
  Epochs epochs;
  Data data(epochs.rank());
  bool refuses = false;
  commit(epochs, data, 1);
  epochs.store().protect("moody", std::make_unique<Moody>(refuses));
  commit(epochs, data, 2);
  commit(epochs, data, 3);
  refuses = epochs.rank() == 0;
  data.set(4);
  for (int i = 0; i < 3; ++i) {
    if (refuses)
      EXPECT_THROW(epochs.store().commit(), std::runtime_error);
    else
      EXPECT_THROW(epochs.store().commit(), mend::EnvironmentError);
  }
  EXPECT_EQ(epochs.store().version(), Version{3});
  refuses = false;
  data.set(-1);
  data.protect_in(epochs.store());
  EXPECT_EQ(epochs.store().restore(Version{2}), Version{2});
  data.expect(2);
  commit(epochs, data, 3);
  expect_restored(epochs, data, 3, Version{3});
}

/// A member that keeps data from size() to the end of its packing, as members with a serializer do.
class Prepared final : public mend::Member {
 public:
  explicit Prepared(bool& keeps) : keeps_(&keeps) {}
  std::string shape() const override { return "prepared"; }
  mend::ByteCount size() const override {
    *keeps_ = true;
    return 1;
  }
  void pack(std::span<std::byte> to) const override { to.front() = std::byte{1}; }
  void end_pack() const override { *keeps_ = false; }
  void unpack(std::span<const std::byte>) override {}

 private:
  bool* keeps_;
};

TEST_F(Stores, free_what_was_prepared_for_a_commit_that_is_refused) {
  Epochs epochs;
  bool keeps = false;
  bool refuses = false;
  std::vector<double> part(2);
  epochs.store().protect("a", std::make_unique<Prepared>(keeps));  // before the one that refuses
  epochs.store().protect("moody", std::make_unique<Moody>(refuses));
  EXPECT_EQ(epochs.store().commit(), Version{1});
  EXPECT_FALSE(keeps);
  refuses = epochs.rank() == 0;
  EXPECT_ANY_THROW(epochs.store().commit());
  EXPECT_FALSE(keeps) << "a rank could not pack";
  refuses = false;
  if (epochs.size() > 1) {
    epochs.store().protect("u", mend::part(part, {epochs.rank() == 1 ? 20U : 10U}, {0}));
    EXPECT_THROW(epochs.store().commit(), UsageError);
    EXPECT_FALSE(keeps) << "ranks disagree";
    epochs.store().unprotect("u");
  }
  EXPECT_EQ(epochs.store().commit(), Version{2});
}

TEST_F(Stores, tell_all_ranks_of_a_mistake_of_one_in_a_commit) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "one rank has made no mistake that another hears of";
  Data data(epochs.rank());
  int late = 0;
  if (epochs.rank() == 0) epochs.store().protect("late", late);
  commit(epochs, data, 1);
  epochs.store().forget_members();
  data.protect_in(epochs.store());
  epochs.store().restore();
  const std::string text = "version 1 has data of 'late', which this rank has not protected since";
  try {
    epochs.store().commit();
    FAIL() << "rank 0 has made a mistake";
  } catch (const mend::UsageError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(epochs.rank() == 0 ? text : "rank 0: " + text));
  }
}

TEST_F(Stores, take_back_what_is_provisional_when_a_process_fails) {
  for (const int commits_inside : {0, 1, 2, 5}) {
    SCOPED_TRACE(commits_inside);
    Epochs epochs;
    if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
    Data data(epochs.rank());
    for (int step = 1; step <= 3; ++step) commit(epochs, data, step);
    epochs.store().hold();
    for (int step = 4; step < 4 + commits_inside; ++step) commit(epochs, data, step);
    epochs.next({1});
    expect_restored(epochs, data, 3, Version{3});
    commit(epochs, data, 4);
    epochs.store().hold();
    for (int step = 5; step < 5 + commits_inside; ++step) commit(epochs, data, step);
    data.set(77);
    data.protect_in(epochs.store());
    const Version last = epochs.store().commit_and_let_go();
    EXPECT_EQ(last.value, 5U + static_cast<unsigned>(commits_inside));
    epochs.next({0});
    expect_restored(epochs, data, 77, last);
  }
}

TEST_F(Stores, hold_a_version_within_another) {
  Epochs epochs;
  Data data(epochs.rank());
  commit(epochs, data, 1);
  epochs.store().hold();
  commit(epochs, data, 2);
  epochs.store().hold();
  for (int step = 3; step <= 6; ++step) commit(epochs, data, step);
  EXPECT_EQ(epochs.store().restore(Version{2}), Version{2});
  epochs.store().let_go();
  data.expect(2);
  for (int step = 3; step <= 6; ++step) commit(epochs, data, step);
  EXPECT_EQ(epochs.store().restore(1), Version{1});
  epochs.store().let_go();
  data.expect(1);
}

TEST_F(Stores, drop_what_is_provisional_and_know_that_members_may_be_others) {
  Epochs epochs;
  Data data(epochs.rank());
  commit(epochs, data, 1);
  EXPECT_TRUE(epochs.store().has_version());
  epochs.store().hold();
  for (int step = 2; step <= 4; ++step) commit(epochs, data, step);
  data.set(5);
  epochs.store().commit_async();
  epochs.store().drop_provisional();
  EXPECT_EQ(epochs.store().finish_commit(), Version{1});
  EXPECT_FALSE(epochs.store().has_version());
  expect_restored(epochs, data, 1, Version{1});
  EXPECT_TRUE(epochs.store().has_version());
  epochs.store().restore_from(epochs.rank());
  EXPECT_FALSE(epochs.store().has_version()) << "it may be another's";
}

TEST_F(Stores, drop_holds_without_waiting_for_a_commit_that_is_under_way) {
  Epochs epochs;
  Data data(epochs.rank());
  commit(epochs, data, 1);
  epochs.store().hold();
  commit(epochs, data, 2);
  epochs.store().hold();
  commit(epochs, data, 3);
  data.set(4);
  epochs.store().commit_async();
  // Would wait for ever on the ranks that come first, if it waited for the others.
  for (int turn = 0; turn < epochs.size(); ++turn) {
    if (turn == epochs.rank()) {
      epochs.store().drop_provisional();
      epochs.store().drop_provisional();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect_restored(epochs, data, 1, Version{1});
  commit(epochs, data, 5);
  epochs.next();
  expect_restored(epochs, data, 5, Version{2});
}

TEST_F(Stores, name_what_cannot_be_brought_back_on_every_rank) {
  Epochs epochs;
  if (epochs.size() < 3) GTEST_SKIP() << "somebody must live who knows that there was a commit";
  Data data(epochs.rank());
  commit(epochs, data, 1);
  commit(epochs, data, 2);
  epochs.next({1, 2});
  data.protect_in(epochs.store());
  try {
    epochs.store().restore();
    ADD_FAILURE() << "restored what is lost";
  } catch (const DataLoss& loss) {
    EXPECT_THAT(loss.what(), HasSubstr("the data of rank 1 at version 2 is lost"));
  }
}

TEST_F(Stores, begin_anew_when_nobody_is_left_who_knows_of_a_commit) {
  Epochs epochs;
  Data data(epochs.rank());
  commit(epochs, data, 1);
  std::vector<int> everyone(static_cast<std::size_t>(epochs.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  epochs.next(everyone);
  data.set(0);
  data.protect_in(epochs.store());
  EXPECT_EQ(epochs.store().restore(), Version{});
  data.expect(0);
  commit(epochs, data, 1);
  expect_restored(epochs, data, 1, Version{1});
}

TEST_F(Stores, know_what_is_lost_when_one_has_heard_of_it) {
  Epochs epochs;
  Data data(epochs.rank());
  for (int step = 1; step < 4; ++step) commit(epochs, data, step);
  std::vector<int> everyone(static_cast<std::size_t>(epochs.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  epochs.next(everyone);
  if (epochs.rank() == epochs.size() - 1) epochs.store().hear(Version{2});
  data.protect_in(epochs.store());
  for (int i = 0; i < 2; ++i) {
    try {
      epochs.store().restore();
      ADD_FAILURE() << "restored what is lost";
    } catch (const DataLoss& loss) {
      EXPECT_STREQ(loss.what(),
                   "all ranks have died, and the data that they committed is lost: no living process has any part of "
                   "it; the job "
                   "must be started again");
    }
  }
  commit(epochs, data, 4);
  expect_restored(epochs, data, 4, Version{1});
}

TEST_F(Stores, go_by_what_is_there_and_not_by_what_one_has_heard) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
  Data data(epochs.rank());
  commit(epochs, data, 1);
  epochs.next({1});
  if (epochs.rank() == 1) epochs.store().hear(Version{2});
  expect_restored(epochs, data, 1, Version{1});
}

TEST_F(Stores, pass_over_a_damaged_copy) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
  Data data(epochs.rank());
  const auto protect_marked = [&] { epochs.store().protect("marked", std::make_unique<Marked>()); };
  protect_marked();
  commit(epochs, data, 1);
  if (epochs.rank() == 1) *Marked::last_place ^= std::byte{1};
  epochs.next();
  protect_marked();
  expect_restored(epochs, data, 1, Version{1});
}

TEST_F(Stores, go_back_to_the_version_before_when_the_last_one_is_damaged_everywhere) {
  Epochs epochs;
  if (epochs.size() < 3) GTEST_SKIP() << "the holder's loss must not be everybody's";
  Data data(epochs.rank());
  const auto protect_marked = [&] { epochs.store().protect("marked", std::make_unique<Marked>()); };
  protect_marked();
  commit(epochs, data, 1);
  commit(epochs, data, 2);
  if (epochs.rank() == 1) *Marked::last_place ^= std::byte{1};
  epochs.next({2});  // the holder of rank 1's copy
  protect_marked();
  expect_restored(epochs, data, 1, Version{1});
  commit(epochs, data, 2);
  expect_restored(epochs, data, 2, Version{2});
}

TEST_F(Stores, refuse_another_shape_on_the_rank_that_has_it_and_let_the_others_go_no_further) {
  Epochs epochs;
  std::vector<double> values(10);
  epochs.store().protect("values", std::span(values));
  epochs.store().commit();
  epochs.next();
  std::vector<double> others(epochs.rank() == 0 ? 11 : 10);
  epochs.store().forget_members();  // as when the body is entered again
  epochs.store().protect("values", std::span(others));
  if (epochs.rank() == 0) {
    try {
      epochs.store().restore();
      ADD_FAILURE() << "restored into another shape";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("restore needs the same shape"));
    }
  } else {
    EXPECT_THROW(epochs.store().restore(), mend::agreement::Abandoned);
  }
}

TEST_F(Stores, give_back_data_that_changes_its_size_as_it_was) {
  Epochs epochs;
  std::vector<int> values;
  const auto size_at = [&](int step) { return static_cast<std::size_t>((step * 7919 + epochs.rank() * 31) % 5000); };
  for (int step = 1; step <= 6; ++step) {
    values.assign(size_at(step), step);
    epochs.store().protect("values", values);
    epochs.store().commit();
    if (epochs.size() > 1) epochs.next({step % epochs.size()});
    values.assign(3, -1);
    epochs.store().protect("values", values);
    epochs.store().restore();
    EXPECT_EQ(values, std::vector<int>(size_at(step), step));
  }
}

/// One value after another changes, sometimes a size too, and one rank after another loses its memory.
void change_and_lose_memory(mend::FindChanges how) {
  for (const char* scheme : {"partner", "replicas:2", "xor:3", "rs:2+2"}) {
    const auto redundancy = mend::Redundancy::parse(scheme);
    if (Epochs().size() < redundancy.least_ranks()) continue;
    SCOPED_TRACE(scheme);
    Epochs epochs({}, redundancy, 2, std::nullopt, MPI_COMM_WORLD, how);
    const int rank = epochs.rank();
    std::vector<double> field(static_cast<std::size_t>(60'000 + 7'000 * rank), rank);
    int resized = 0;
    const auto change = [&](int step) {
      if (step % 7 == 4 && rank == step % epochs.size()) {
        field.resize(field.size() + 1'500, step);
        resized = step;
      }
      for (int i = 0; i < 3; ++i) field[static_cast<std::size_t>(step * 7919 + i * 31'337) % field.size()] = step;
    };
    int settled = 0;
    for (int step = 1; step <= 40; ++step) {
      change(step);
      epochs.store().protect("field", field);
      const mend::ByteCount sent = messages::sent_bytes;
      epochs.store().commit();
      const auto& statistics = epochs.store().statistics();
      if (step > std::max(settled, resized) + 2) {  // whether or not other ranks have changed their sizes
        EXPECT_LT(statistics.changed_bytes, statistics.snapshot_bytes / 3) << "in step " << step;
        const mend::ByteCount copies = scheme == "partner"sv ? 1 : scheme == "replicas:2"sv ? 2 : 0;
        if (copies > 0 && epochs.size() > 1) {
          EXPECT_GE(messages::sent_bytes - sent, copies * statistics.changed_bytes) << "in step " << step;
          EXPECT_LT(messages::sent_bytes - sent, copies * statistics.changed_bytes + 10'000) << "in step " << step;
        }
      }
      if (step % 10 != 0) continue;
      const std::vector<double> committed = field;
      if (epochs.size() > 1) epochs.next({step / 10 % epochs.size()});
      settled = step;
      field.assign(10, -1);
      epochs.store().protect("field", field);
      epochs.store().restore();
      ASSERT_EQ(field, committed);
    }
  }
}

TEST_F(Stores, send_only_what_has_changed_and_lose_nothing) { change_and_lose_memory(mend::FindChanges::by_hash); }

TEST_F(Stores, read_only_what_was_written_and_lose_nothing) {
  if (!mend::DirtyPages::is_possible())
    GTEST_SKIP() << "this kernel does not report which pages were written (Linux 6.7 and later do)";
  change_and_lose_memory(mend::FindChanges::by_writes);
}

TEST_F(Stores, commit_what_was_there_when_an_asynchronous_commit_began) {
  for (const char* scheme : {"partner", "xor:3", "rs:2+2"}) {
    const auto redundancy = mend::Redundancy::parse(scheme);
    if (Epochs().size() < redundancy.least_ranks()) continue;
    SCOPED_TRACE(scheme);
    Epochs epochs({}, redundancy);
    Data data(epochs.rank(), 50'000);
    commit(epochs, data, 1);
    data.set(2);
    epochs.store().commit_async();
    EXPECT_EQ(epochs.store().version(), Version{1}) << "it is not published yet";
    data.set(-5);
    EXPECT_EQ(epochs.store().finish_commit(), Version{2});
    EXPECT_EQ(epochs.store().finish_commit(), Version{2}) << "there is nothing more to finish";
    if (epochs.size() > 1) epochs.next({0});
    expect_restored(epochs, data, 2, Version{2});
    data.set(3);
    epochs.store().commit_async();
    data.set(-5);
    expect_restored(epochs, data, 3, Version{3});  // finishes the commit first
    data.set(4);
    epochs.store().commit_async();
    data.set(5);
    EXPECT_EQ(epochs.store().commit(), Version{5});
    expect_restored(epochs, data, 5, Version{5});
  }
}

TEST_F(Stores, keep_the_version_before_when_a_failure_comes_before_an_asynchronous_commit_is_finished) {
  for (const char* scheme : {"partner", "xor:3", "rs:2+2"}) {
    const auto redundancy = mend::Redundancy::parse(scheme);
    Epochs epochs({}, Epochs().size() < redundancy.least_ranks() ? mend::Redundancy{} : redundancy);
    if (epochs.size() == 1) GTEST_SKIP() << "nobody else has a copy";
    Data data(epochs.rank(), 50'000);
    for (int step = 1; step <= 4; ++step) commit(epochs, data, step);
    for (int victim = 0; victim < epochs.size(); ++victim) {
      data.set(-2);
      try {
        epochs.store().commit_async();
      } catch (const ProcessFailure&) {
        // Another rank has already continued.
      }
      EXPECT_EQ(epochs.ballot().cast(Proposal::recover, true), mend::agreement::BallotResult::recover);
      epochs.next({victim});
      expect_restored(epochs, data, 4, Version{4});
    }
    commit(epochs, data, 5);
    expect_restored(epochs, data, 5, Version{5});
  }
}

TEST_F(Stores, go_back_to_older_versions_on_request) {
  Epochs epochs({}, {}, 3);
  Data data(epochs.rank());
  for (int step = 1; step <= 5; ++step) commit(epochs, data, step);
  const auto go_back_to = [&](std::uint64_t version) { return epochs.store().restore(Version{version}); };
  EXPECT_EQ(go_back_to(4), Version{4});
  data.expect(4);
  EXPECT_EQ(go_back_to(3), Version{3});
  data.expect(3);
  EXPECT_THROW(go_back_to(4), UsageError) << "it is after the one that was gone back to";
  EXPECT_THROW(go_back_to(2), UsageError) << "it is kept no more";
  commit(epochs, data, 14);
  expect_restored(epochs, data, 14, Version{4});
  if (epochs.size() == 1) return;
  epochs.next({0});
  data.protect_in(epochs.store());
  EXPECT_EQ(go_back_to(3), Version{3}) << "after a failure too";
  data.expect(3);
}

TEST_F(Stores, name_the_versions_they_have) {
  Epochs epochs({}, {}, 3);
  Data data(epochs.rank());
  const auto refusal = [&] {
    try {
      epochs.store().restore(Version{9});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("(accepted)");
  };
  EXPECT_THAT(refusal(), HasSubstr("version 9 cannot be restored: kept are none"));
  for (int step = 1; step <= 5; ++step) commit(epochs, data, step);
  EXPECT_THAT(refusal(), HasSubstr("version 9 cannot be restored: kept are 3, 4, 5"));
}

/// The message with which `work` is refused.
template <class Work>
std::string sentence_of(Work work) {
  try {
    work();
  } catch (const UsageError& refused) {
    return refused.what();
  }
  return "nothing was refused";
}

TEST_F(Stores, refuse_an_object_of_another_kind_under_a_name_that_is_taken) {
  Epochs epochs;
  int step = 1;
  double sum = 2;
  std::vector<double> first(4, 1.0);
  std::vector<double> second(4, 2.0);
  const auto protect = [&](auto&& object) { epochs.store().protect("x", std::forward<decltype(object)>(object)); };
  protect(step);
  EXPECT_THAT(sentence_of([&] { protect(sum); }),
              AllOf(HasSubstr("member 'x' is protected as value of 4 bytes"), HasSubstr("a name of its own")));
  epochs.store().forget_members();  // as when the body is entered again
  protect(std::span(first));
  epochs.store().replace("x", std::span(second));  // a double buffer
  EXPECT_THAT(sentence_of([&] { protect(std::span(second).first(3)); }), HasSubstr("a name of its own"));
  EXPECT_THAT(sentence_of([&] { epochs.store().replace("x", first); }), HasSubstr("cannot take its place"));
  EXPECT_THAT(sentence_of([&] { epochs.store().replace("y", first); }), HasSubstr("no protected member 'y'"));
  EXPECT_THAT(sentence_of([&] { protect(first); }), HasSubstr("a name of its own"));
  epochs.store().commit();
  second.assign(4, 0.0);
  epochs.store().restore();
  EXPECT_EQ(second.back(), 2.0) << "a refusal changes nothing";
}

TEST_F(Stores, refuse_a_second_object_of_one_name_before_and_after_a_restore) {
  Epochs epochs;
  int step = 1;
  int count = 2;
  epochs.store().protect("x", step);
  epochs.store().protect("x", step);  // the same object
  EXPECT_THAT(
      sentence_of([&] { epochs.store().protect("x", count); }),
      AllOf(HasSubstr("another object is protected as 'x' already"), HasSubstr("store.replace(\"x\", object)")));
  EXPECT_EQ(epochs.store().restore(), Version{});
  EXPECT_THAT(sentence_of([&] { epochs.store().protect("x", count); }),
              HasSubstr("one of the two would not be restored"));
  EXPECT_EQ(epochs.store().commit(), Version{1});
  EXPECT_THAT(sentence_of([&] { epochs.store().protect("x", count); }), HasSubstr("store.replace"));
  epochs.next();
  epochs.store().forget_members();  // as when the body is entered again
  step = 0;
  epochs.store().protect("x", step);
  EXPECT_EQ(epochs.store().restore(), Version{1});
  EXPECT_THAT(sentence_of([&] { epochs.store().protect("x", count); }), HasSubstr("store.replace"));
  EXPECT_EQ(step, 1);
}

TEST_F(Stores, refuse_a_second_range_of_one_shape_under_one_name) {
  Epochs epochs;
  std::vector<double> first(4, 1.0);
  std::vector<double> second(4, 2.0);
  const auto part_of = [](std::vector<double>& values) { return mend::part(values, {4}, {0}); };
  epochs.store().protect("span", std::span(first));
  EXPECT_THAT(sentence_of([&] { epochs.store().protect("span", std::span(second)); }), HasSubstr("store.replace"));
  epochs.store().protect("part", part_of(first));
  EXPECT_THAT(sentence_of([&] { epochs.store().protect("part", part_of(second)); }), HasSubstr("store.replace"));
  epochs.store().protect("subset", mend::subset(first, {{0, 2}}));
  EXPECT_THAT(sentence_of([&] {
                epochs.store().protect("subset", mend::subset(second, {{0, 2}}));
              }),
              HasSubstr("store.replace"));
}

TEST_F(Stores, let_survivors_that_stay_in_the_body_name_another_object_until_it_is_restored) {
  Epochs epochs;
  int step = 1;
  int count = 2;
  epochs.store().protect("x", step);
  epochs.store().commit();
  epochs.next();
  epochs.store().protect("x", count);
  EXPECT_EQ(epochs.store().restore(), Version{1});
  EXPECT_EQ(count, 1);
  EXPECT_THAT(sentence_of([&] { epochs.store().protect("x", step); }), HasSubstr("store.replace"));
}

TEST_F(Stores, refuse_to_commit_a_member_that_was_protected_too_late_to_be_restored) {
  Epochs epochs;
  int step = 1;
  int sum = 2;
  const auto enter_again = [&] {
    epochs.next();
    epochs.store().forget_members();
    step = sum = 0;
    epochs.store().protect("step", step);
    EXPECT_EQ(epochs.store().restore(), Version{1});
    EXPECT_EQ(step, 1);
  };
  epochs.store().protect("step", step);
  epochs.store().restore();
  epochs.store().protect("sum", sum);  // no rank has committed data of this name
  EXPECT_EQ(epochs.store().commit(), Version{1});

  enter_again();
  epochs.store().protect("sum", sum);
  EXPECT_THAT(sentence_of([&] { epochs.store().commit(); }),
              HasSubstr("member 'sum' was protected after restore(), so it does not have its data of version 1"));
  EXPECT_EQ(epochs.store().restore(), Version{1}) << "as the sentence says";
  EXPECT_EQ(sum, 2);

  enter_again();
  epochs.store().unprotect("sum");
  epochs.store().protect("sum", sum);  // protected anew
  EXPECT_EQ(epochs.store().commit(), Version{2});
}

TEST_F(Stores, refuse_parts_of_different_arrays_under_one_name) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody to disagree with";
  std::vector<double> part(2);
  const auto protect_as_part_of = [&](std::size_t whole) {
    epochs.store().forget_members();
    epochs.store().protect("u", mend::part(part, {whole}, {0}));
  };
  protect_as_part_of(epochs.rank() == 1 ? 20 : 10);
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(sentence_of([&] { epochs.store().commit(); }),
                HasSubstr("ranks disagree about the array 'u': it is a float64 array [10] for rank 0, and a float64 "
                          "array [20] for rank 1"));
  }
  protect_as_part_of(10);
  if (epochs.rank() == 0) epochs.store().forget_members();  // ranks without a part are allowed
  EXPECT_EQ(epochs.store().commit(), Version{1});
  if (epochs.rank() == 0) epochs.store().protect("u", mend::part(part, {11}, {0}));
  EXPECT_THROW(epochs.store().commit(), UsageError);
}

TEST_F(Stores, bring_back_a_member_of_more_than_2_GiB) {
  if (!support::long_tests()) GTEST_SKIP() << "a long test, which needs 10 GiB: MEND_TEST_LONG=1";
  Epochs epochs;
  if (epochs.size() != 2) GTEST_SKIP() << "two ranks are enough";
  constexpr std::size_t bytes = (std::size_t{1} << 31) + 4099;  // more than an int can count
  constexpr std::size_t stride = (std::size_t{1} << 20) + 1;
  const auto value_at = [](std::size_t at) { return static_cast<unsigned char>(at / stride + 1); };
  std::vector<unsigned char> large(epochs.rank() == 1 ? bytes : 1);
  for (std::size_t at = 0; at < large.size(); at += stride) large[at] = value_at(at);
  large.back() = 77;
  epochs.store().protect("large", large);
  epochs.store().commit();
  epochs.next({1});
  std::ranges::fill(large, 0);
  epochs.store().protect("large", large);
  EXPECT_EQ(epochs.store().restore(), Version{1});
  for (std::size_t at = 0; at + 1 < large.size(); at += stride) ASSERT_EQ(large[at], value_at(at)) << "at " << at;
  EXPECT_EQ(large.back(), 77);
}

TEST_F(Stores, tell_ranks_that_restore_different_versions) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody to disagree with";
  Data data(epochs.rank());
  commit(epochs, data, 1);
  commit(epochs, data, 2);
  EXPECT_THROW(epochs.store().restore(Version{epochs.rank() == 0 ? 1U : 2U}), UsageError);
  EXPECT_THROW(epochs.rank() == 0 ? epochs.store().restore() : epochs.store().restore(Version{2}), UsageError);
}

TEST_F(Stores, keep_the_version_before_when_a_commit_is_interrupted) {
  for (const char* place : {"commit.pack", "commit.exchange", "commit.vote"}) {
    Epochs epochs;
    if (epochs.size() == 1) GTEST_SKIP() << "nobody to be interrupted";
    Data data(epochs.rank());
    commit(epochs, data, 1);
    data.set(2);

    struct Interrupted {};
    mend::on_fault_point([&](std::string_view point) {
      if (epochs.rank() == 0 && point == place) throw Interrupted{};
    });
    try {
      epochs.store().commit();
      ADD_FAILURE() << "committed though rank 0 was interrupted at " << place;
    } catch (const Interrupted&) {
      epochs.interrupt();
      EXPECT_EQ(epochs.ballot().cast(Proposal::recover, true), mend::agreement::BallotResult::recover);
    } catch (const ProcessFailure&) {
      EXPECT_EQ(epochs.ballot().cast(Proposal::recover, true), mend::agreement::BallotResult::recover);
    }
    mend::on_fault_point({});
    epochs.next();
    expect_restored(epochs, data, 1, Version{1});
  }
}

TEST_F(Stores, tell_ranks_that_came_to_different_things) {
  const auto differ = [](auto first, auto others) {
    Epochs epochs;
    if (epochs.size() == 1) return;
    Data data(epochs.rank());
    commit(epochs, data, 1);
    EXPECT_THROW(epochs.rank() == 0 ? first(epochs) : others(epochs), UsageError);
  };
  const auto commit_it = [](Epochs& epochs) { epochs.store().commit(); };
  const auto restore_it = [](Epochs& epochs) { epochs.store().restore(); };
  const auto agree = [](Epochs& epochs) { epochs.ballot().vote(Proposal::flag, true); };
  differ(commit_it, restore_it);
  differ(restore_it, commit_it);
  differ(commit_it, agree);
  differ(agree, commit_it);
  differ(restore_it, agree);
}

TEST_F(Stores, save_nothing_as_well_as_something) {
  Epochs epochs;
  EXPECT_EQ(epochs.store().commit(), Version{1});
  epochs.next({0});
  EXPECT_NO_THROW(epochs.store().restore());
}

TEST_F(Stores, go_on_counting_versions_when_nothing_is_restored) {
  Epochs epochs;
  if (epochs.size() == 1) GTEST_SKIP() << "nobody else knows of a commit";
  Data data(epochs.rank());
  commit(epochs, data, 1);
  commit(epochs, data, 2);
  epochs.next({0});
  commit(epochs, data, 7);
  EXPECT_EQ(epochs.store().version(), Version{3});
  epochs.next({1});
  expect_restored(epochs, data, 7, Version{3});
}

TEST_F(Stores, leave_alone_what_is_unprotected_and_tell_the_versions_they_keep) {
  Epochs job;
  int kept = 1;
  int dropped = 1;
  job.store().protect("kept", kept);
  job.store().protect("dropped", dropped);
  EXPECT_TRUE(job.store().versions().in_memory.empty());
  job.store().commit();
  job.store().unprotect("dropped");
  EXPECT_THROW(job.store().unprotect("dropped"), mend::UsageError);
  for (int i = 0; i < 2; ++i) job.store().commit();
  EXPECT_THAT(job.store().versions().in_memory, testing::ElementsAre(mend::Version{3}, mend::Version{2}));
  EXPECT_TRUE(job.store().versions().on_disk.empty());
  kept = dropped = 2;
  job.next();
  job.store().protect("kept", kept);
  EXPECT_EQ(job.store().restore(), mend::Version{3});
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(dropped, 2);
}

TEST_F(Stores, save_and_fill_the_object_that_has_taken_the_place_of_another) {
  Epochs epochs;
  int first = 1;
  int second = 2;
  epochs.store().protect("value", first, mend::Redundancy::parse("local"));
  epochs.store().replace("value", second);
  epochs.store().commit();
  first = second = 0;
  epochs.store().restore();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 2);
  EXPECT_THROW(epochs.store().protect("", first), UsageError);
}

TEST_F(Stores, need_as_much_memory_as_the_table_says) {
  for (const char* scheme : {"local", "partner", "replicas:2", "xor:3", "xor:4", "rs:2+2"}) {
    const auto redundancy = mend::Redundancy::parse(scheme);
    if (Epochs().size() < redundancy.least_ranks() || Epochs().size() == 1) continue;
    for (int versions : {2, 3}) {
      SCOPED_TRACE(testing::Message() << scheme << " in versions: " << versions);
      Epochs epochs({}, redundancy, versions);
      std::vector<double> field(1'000'000);
      for (int step = 1; step <= 5; ++step) {
        field.front() = step;
        epochs.store().protect("field", field);
        epochs.store().commit();
      }
      const auto& statistics = epochs.store().statistics();
      const double parity = redundancy.parity;
      const double pieces = redundancy.copies() ? 1 : epochs.size() - parity;  // all ranks are one group
      const double documented = versions * static_cast<double>(statistics.snapshot_bytes) * (1 + parity / pieces);
      EXPECT_NEAR(static_cast<double>(statistics.memory_bytes), documented, 1000);
    }
  }
}

TEST_F(Stores, know_what_they_have_cost) {
  Epochs epochs;
  Data data(epochs.rank());
  commit(epochs, data, 1);
  commit(epochs, data, 2);
  expect_restored(epochs, data, 2, Version{2});
  const auto& statistics = epochs.store().statistics();
  EXPECT_EQ(statistics.commits, 2U);
  EXPECT_EQ(statistics.restores, 1U);
  EXPECT_GE(statistics.snapshot_bytes, 800U * static_cast<unsigned>(epochs.rank() + 1));
  EXPECT_GE(statistics.memory_bytes, 2 * statistics.snapshot_bytes);
  EXPECT_GT(statistics.commit_time.count(), 0);
  EXPECT_GT(statistics.restore_time.count(), 0);
}

}  // namespace

/// Replaces MPI_Isend.
int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static std::vector<std::byte> changed;
  int size = 0;
  PMPI_Type_size(type, &size);
  messages::sent_bytes += static_cast<mend::ByteCount>(size) * static_cast<mend::ByteCount>(count);
  if (messages::are_damaged && type == MPI_BYTE && count > 100'000) {
    const auto* bytes = static_cast<const std::byte*>(from);
    changed.assign(bytes, bytes + count);
    changed[changed.size() / 2] ^= std::byte{1};
    messages::are_damaged = false;
    from = changed.data();
  }
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}
