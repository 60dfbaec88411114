// Arrays that are restored from memory to another number of ranks, and data of another rank.

#include "tests/store/epochs.hpp"
#include "tests/store/messages.hpp"

#include "base/error.hpp"
#include "base/telemetry/log.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace {

using mend::NodeId;
using mend::Rank;
using mend::UsageError;
using mend::Version;
using testing::HasSubstr;

constexpr std::size_t cells = 1009;

/// A rank's share of numbered cells that are incremented in every step, and the step number.
class Share {
 public:
  Share(int rank, int ranks) : first_(begin_of(rank, ranks)), values_(begin_of(rank + 1, ranks) - first_, -1) {}

  void protect_in(mend::Store& store) {
    store.protect("cells", mend::part(values_, {cells}, {first_}));
    store.protect("step", mend::replicated(step_));
  }
  void set(long step) {
    step_ = step;
    std::iota(values_.begin(), values_.end(), 10'000 * step + static_cast<long>(first_));
  }
  void expect(long step) const {
    Share expected = *this;
    expected.set(step);
    EXPECT_EQ(step_, step);
    EXPECT_EQ(values_, expected.values_);
  }

 private:
  static std::size_t begin_of(int rank, int ranks) {
    return cells * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
  }
  std::size_t first_;
  std::vector<long> values_;
  long step_ = 0;
};

class OtherRanks : public testing::Test {
 protected:
  OtherRanks() { mend::log::set_level(mend::LogLevel::off); }
  ~OtherRanks() override { mend::log::set_level(mend::LogLevel::warn); }

  static void commit(Epochs& epochs, long step) {
    Share share(epochs.rank(), epochs.size());
    share.set(step);
    epochs.store().forget_members();  // as when the body is entered again
    share.protect_in(epochs.store());
    EXPECT_EQ(epochs.store().commit(), Version{static_cast<std::uint64_t>(step)});
  }
  static void expect_restored(Epochs& epochs, long step) {
    Share share(epochs.rank(), epochs.size());
    epochs.store().forget_members();
    share.protect_in(epochs.store());
    EXPECT_EQ(epochs.store().restore(), Version{static_cast<std::uint64_t>(step)});
    EXPECT_EQ(epochs.store().restored_from(), mend::Origin::memory);
    share.expect(step);
    epochs.store().finish_commit();  // the copies have come too
  }
};

/// All ranks except `dead`, whose memory is lost; those wait until the test is over.
class Survivors {
 public:
  explicit Survivors(const std::vector<int>& dead) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool died = std::find(dead.begin(), dead.end(), rank) != dead.end();
    MPI_Comm_split(MPI_COMM_WORLD, died ? MPI_UNDEFINED : 0, rank, &comm_);
  }
  ~Survivors() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Survivors(const Survivors&) = delete;
  Survivors& operator=(const Survivors&) = delete;
  MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// A bit flips in a message, and what came is noticed to be damaged: at a commit, in what becomes a parity, and at the
/// restore, in what is brought to another rank.
TEST_F(OtherRanks, go_back_a_version_when_data_comes_damaged) {
  constexpr std::size_t many = std::size_t{1} << 19;
  for (const bool at_commit : {true, false}) {
    Epochs job({}, mend::Redundancy::parse(at_commit ? "xor:4" : "partner"));
    if (job.size() != 4) GTEST_SKIP() << "four ranks are wanted";
    const auto values_of = [&](int rank, int ranks, long step) {
      std::vector<long> values(many * static_cast<std::size_t>(rank + 1) / static_cast<std::size_t>(ranks) -
                               many * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks));
      std::iota(values.begin(), values.end(), 10'000'000 * step);
      return values;
    };
    const auto begin_of = [&](int rank, int ranks) {
      return many * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
    };
    std::vector<long> values = values_of(job.rank(), 4, 1);
    job.store().protect("cells", mend::part(values, {many}, {begin_of(job.rank(), 4)}));
    job.store().commit();
    values = values_of(job.rank(), 4, 2);
    messages::are_damaged = at_commit && job.rank() == 0;
    job.store().commit();
    EXPECT_FALSE(messages::are_damaged) << "nothing was damaged";
    const Survivors survivors({2});
    if (survivors.comm() == MPI_COMM_NULL) continue;
    job.go_on_among(survivors.comm());
    std::vector<long> share(begin_of(job.rank() + 1, 3) - begin_of(job.rank(), 3), -1);
    job.store().forget_members();
    job.store().protect("cells", mend::part(share, {many}, {begin_of(job.rank(), 3)}));
    messages::are_damaged = !at_commit;
    EXPECT_EQ(job.store().restore(), Version{1}) << at_commit;
    messages::are_damaged = false;
    std::vector<long> all;
    for (int rank = 0; rank < 4; ++rank) {
      const auto part = values_of(rank, 4, 1);
      all.insert(all.end(), part.begin(), part.end());
    }
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(begin_of(job.rank(), 3));
    EXPECT_TRUE(std::equal(share.begin(), share.end(), begin)) << at_commit;
  }
}

TEST_F(OtherRanks, have_arrays_of_several_redundancies) {
  Epochs epochs({}, mend::Redundancy::parse("local"));
  if (epochs.size() < 4) GTEST_SKIP() << "needs 4 ranks";
  const auto protect = [&](std::vector<long>& values, std::size_t first, long& step) {
    epochs.store().protect("cells", mend::part(values, {cells}, {first}), mend::Redundancy::parse("rs:2+2"));
    epochs.store().protect("step", mend::replicated(step), mend::Redundancy::parse("partner"));
  };
  const auto begin_of = [&](int rank) {
    return cells * static_cast<std::size_t>(rank) / static_cast<std::size_t>(epochs.size());
  };
  const auto values_of = [&](int rank) {
    std::vector<long> values(begin_of(rank + 1) - begin_of(rank));
    std::iota(values.begin(), values.end(), static_cast<long>(begin_of(rank)));
    return values;
  };
  std::vector<long> values = values_of(epochs.rank());
  long step = 77;
  protect(values, begin_of(epochs.rank()), step);
  epochs.store().commit();
  const Survivors survivors({2});
  if (survivors.comm() == MPI_COMM_NULL) return;
  epochs.go_on_among(survivors.comm());
  std::vector<long> share(values_of(epochs.rank()).size(), -1);  // one of three ranks now
  step = 0;
  protect(share, begin_of(epochs.rank()), step);
  EXPECT_EQ(epochs.store().restore(), Version{1}) << "nothing was protected with local";
  EXPECT_EQ(share, values_of(epochs.rank()));
  EXPECT_EQ(step, 77);
  EXPECT_EQ(epochs.store().commit(), Version{2});
}

TEST_F(OtherRanks, have_arrays_without_elements) {
  Epochs job;
  if (job.size() < 3) GTEST_SKIP() << "three ranks are wanted";
  std::vector<long> nothing;
  long step = 3;
  const auto protect = [&] {
    job.store().protect("nothing", mend::part(nothing, {0}, {0}, {0}));
    job.store().protect("step", mend::replicated(step));
  };
  protect();
  job.store().commit();
  const Survivors survivors({1});
  if (survivors.comm() == MPI_COMM_NULL) return;
  job.go_on_among(survivors.comm());
  step = 0;
  protect();
  EXPECT_EQ(job.store().restore(), Version{1});
  EXPECT_EQ(step, 3);
}

TEST_F(OtherRanks, need_not_have_a_part_of_each_array) {
  Epochs job;
  if (job.size() < 3) GTEST_SKIP() << "three ranks are wanted";
  std::vector<long> values(2, 5);
  const auto protect = [&] {
    job.store().forget_members();
    job.store().protect(job.rank() == 0 ? "ocean" : "air",
                        mend::part(values, {job.rank() == 0 ? std::size_t{2} : std::size_t{4}},
                                   {job.rank() < 2 ? std::size_t{0} : std::size_t{2}}));
  };
  if (job.rank() < 3) protect();
  if (job.rank() >= 3) job.store().protect("air", mend::part(values, {4}, {0}));
  job.store().commit();
  const Survivors survivors({2});
  if (survivors.comm() == MPI_COMM_NULL) return;
  job.go_on_among(survivors.comm());
  values.assign(2, -1);
  protect();
  EXPECT_EQ(job.store().restore(), Version{1});
  EXPECT_EQ(values, std::vector<long>(2, 5));
  EXPECT_EQ(job.store().commit(), Version{2});
  if (job.rank() == 1) job.store().protect("ocean", mend::part(values, {2}, {0}));
  EXPECT_THROW(job.store().commit(), mend::UsageError) << "it was protected after the restore";
}

TEST_F(OtherRanks, have_arrays_after_as_many_deaths_as_the_redundancy_survives) {
  struct Case {
    const char* redundancy;
    std::vector<int> dead;
  };
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 4) GTEST_SKIP() << "needs 4 ranks";
  for (const Case& c : {Case{"partner", {1}}, Case{"partner", {0}}, Case{"replicas:2", {1, 2}}, Case{"replicas:2", {0}},
                        Case{"xor:4", {2}}, Case{"rs:2+2", {0, 3}}}) {
    const auto redundancy = mend::Redundancy::parse(c.redundancy);
    SCOPED_TRACE(c.redundancy);
    Epochs grouped({}, redundancy);
    commit(grouped, 1);
    commit(grouped, 2);
    const Survivors survivors(c.dead);
    if (survivors.comm() == MPI_COMM_NULL) continue;
    // With fewer ranks, not every redundancy is possible any more.
    grouped.go_on_among(survivors.comm());
    expect_restored(grouped, 2);
    expect_restored(grouped, 2);
    commit(grouped, 3);
    expect_restored(grouped, 3);
    grouped.next({0});
    expect_restored(grouped, 3);
  }
}

TEST_F(OtherRanks, may_become_fewer_again_before_they_have_committed) {
  Epochs epochs({}, mend::Redundancy::parse("local"));
  if (epochs.size() < 4) GTEST_SKIP() << "four ranks are wanted";
  Epochs job({}, mend::Redundancy::parse("replicas:3"));
  commit(job, 1);
  const Survivors three({3});
  if (three.comm() == MPI_COMM_NULL) return;
  job.go_on_among(three.comm());
  expect_restored(job, 1);
  MPI_Comm two = MPI_COMM_NULL;
  MPI_Comm_split(three.comm(), job.rank() == 0 ? MPI_UNDEFINED : 0, job.rank(), &two);
  if (two == MPI_COMM_NULL) return;
  job.go_on_among(two);
  expect_restored(job, 1);
  MPI_Comm_free(&two);
}

TEST_F(OtherRanks, cannot_have_what_is_kept_rank_by_rank) {
  Epochs job;
  if (job.size() < 3) GTEST_SKIP() << "three ranks are wanted";
  std::vector<int> own(3, job.rank());
  Share then(job.rank(), job.size());
  then.set(1);
  then.protect_in(job.store());
  job.store().protect("own", own);
  job.store().commit();
  const Survivors survivors({1});
  if (survivors.comm() == MPI_COMM_NULL) return;
  job.go_on_among(survivors.comm());
  Share share(job.rank(), job.size());
  share.protect_in(job.store());
  try {
    job.store().restore();
    ADD_FAILURE() << "restored to other ranks";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'own' is kept rank by rank, and version 1 was committed by"));
  }
}

TEST_F(OtherRanks, data_of_any_of_them_can_be_restored_here) {
  Epochs epochs;
  std::vector<int> values(static_cast<std::size_t>(10 * epochs.rank() + 1), epochs.rank());
  epochs.store().protect("values", values);
  epochs.store().commit();
  const int next = (epochs.rank() + 1) % epochs.size();
  EXPECT_EQ(epochs.store().restore_from(Rank{next}), Version{1});
  EXPECT_EQ(values, std::vector<int>(static_cast<std::size_t>(10 * next + 1), next));
  EXPECT_EQ(epochs.store().restore_from(Rank{0}), Version{1});
  EXPECT_EQ(values, std::vector<int>(1, 0));
  EXPECT_EQ(epochs.store().restore(), Version{1}) << "what is one's own stays";
  EXPECT_EQ(values, std::vector<int>(static_cast<std::size_t>(10 * epochs.rank() + 1), epochs.rank()));
  EXPECT_THROW(epochs.store().restore_from(Rank{epochs.size()}), UsageError);
  if (epochs.size() == 1) return;
  epochs.next({epochs.size() - 1});
  values.clear();
  epochs.store().protect("values", values);
  EXPECT_EQ(epochs.store().restore_from(Rank{epochs.size() - 1}), Version{1});
  EXPECT_EQ(values, std::vector<int>(static_cast<std::size_t>(10 * (epochs.size() - 1) + 1), epochs.size() - 1));
}

}  // namespace
