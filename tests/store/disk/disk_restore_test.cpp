// Stores with a tier on disk, among real ranks: a job finds the versions of another job, with any number of ranks.

#include "tests/store/epochs.hpp"
#include "tests/store/marked.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/log.hpp"
#include "store/disk/disk_tier.hpp"
#include "store/disk/version_folder.hpp"
#include "store/disk/durable_file.hpp"
#include "store/snapshot/pages.hpp"
#include "store/snapshot/snapshot.hpp"
#include "tests/support/scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>

namespace {

using mend::DataLoss;
using mend::DiskOptions;
using mend::Origin;
using mend::UsageError;
using mend::Version;
using testing::HasSubstr;

constexpr std::size_t rows = 13;
constexpr std::size_t columns = 4;

/// The rows of a table that all ranks share, distributed in blocks, and the step number.
class Table {
 public:
  Table(int rank, int ranks)
      : first_(begin_of(rank, ranks)), values_((begin_of(rank + 1, ranks) - first_) * columns, -1.0) {}

  void protect_in(mend::Store& store) {
    store.protect("table", mend::part(values_, {rows, columns}, {first_, 0}, {values_.size() / columns, columns}));
    store.protect("step", mend::replicated(step_));
  }
  void set(int step) {
    step_ = step;
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = value_at(i, step);
  }
  void expect(int step) const {
    EXPECT_EQ(step_, step);
    for (std::size_t i = 0; i < values_.size(); ++i) ASSERT_EQ(values_[i], value_at(i, step)) << "at " << i;
  }

 private:
  static std::size_t begin_of(int rank, int ranks) {
    return rows * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
  }
  double value_at(std::size_t i, int step) const { return 1000.0 * step + static_cast<double>(first_ * columns + i); }

  std::size_t first_;
  std::vector<double> values_;
  int step_ = 0;
};

class DiskStores : public testing::Test {
 protected:
  DiskStores() {
    mend::log::set_level(mend::LogLevel::off);  // unusable versions are reported
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    std::array<char, 512> name{};
    if (rank_ == 0) {
      scratch_.emplace();
      fmt::format_to_n(name.begin(), name.size() - 1, "{}", scratch_->path().string());
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = name.data();
  }
  ~DiskStores() override {
    mend::on_fault_point({});
    MPI_Barrier(MPI_COMM_WORLD);
    mend::log::set_level(mend::LogLevel::warn);
  }

  DiskOptions disk(int every = 1) const { return {folder_, every}; }
  Epochs job(int every = 1, MPI_Comm comm = MPI_COMM_WORLD) const { return Epochs({}, {}, 2, disk(every), comm); }

  /// Commits steps `first` to `last` as one version each, all of which go to disk.
  static void commit_each(Epochs& epochs, Table& table, int first, int last) {
    for (int step = first; step <= last; ++step) {
      table.set(step);
      table.protect_in(epochs.store());
      epochs.store().commit();
      epochs.store().finish_disk();
    }
  }
  static void expect_restored(Epochs& epochs, Table& table, int step, Origin origin) {
    table.set(-1);
    table.protect_in(epochs.store());
    EXPECT_EQ(epochs.store().restore(), Version{static_cast<std::uint64_t>(step)});
    EXPECT_EQ(epochs.store().restored_from(), origin);
    table.expect(step);
  }
  std::vector<mend::CompleteVersion> on_disk() const {
    MPI_Barrier(MPI_COMM_WORLD);
    auto found = mend::complete_versions(folder_);
    MPI_Barrier(MPI_COMM_WORLD);
    return found;
  }
  /// The number of folders whose names begin with `beginning`.
  std::size_t folders(const std::string& beginning) const {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::filesystem::directory_iterator entries(folder_);
    const auto count = std::count_if(begin(entries), end(entries), [&](const auto& entry) {
      return entry.path().filename().string().starts_with(beginning);
    });
    MPI_Barrier(MPI_COMM_WORLD);
    return static_cast<std::size_t>(count);
  }
  /// Rank 0 changes the disk while no rank uses it.
  template <class Change>
  void at_rest(Change change) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) change();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  int rank_ = 0;
  int size_ = 1;
  std::filesystem::path folder_;
  std::optional<support::ScratchFolder> scratch_;
};

TEST_F(DiskStores, keep_members_of_all_redundancies) {
  Table table(rank_, size_);
  std::vector<int> own(static_cast<std::size_t>(rank_) + 3, rank_);
  const auto protect_in = [&](mend::Store& store) {
    table.protect_in(store);
    store.protect("own", own, mend::Redundancy::parse("local"));
  };
  {
    Epochs first = job();
    table.set(1);
    protect_in(first.store());
    first.store().commit();
    first.store().finish_disk();
  }
  Epochs second = job();
  table.set(-1);
  own.clear();
  protect_in(second.store());
  EXPECT_EQ(second.store().restore(), Version{1});
  EXPECT_EQ(second.store().restored_from(), Origin::disk);
  table.expect(1);
  EXPECT_EQ(own, std::vector<int>(static_cast<std::size_t>(rank_) + 3, rank_));
}

TEST_F(DiskStores, give_a_new_job_what_the_last_one_has_written) {
  {
    Epochs first = job();
    Table table(rank_, size_);
    table.protect_in(first.store());
    table.set(0);
    EXPECT_EQ(first.store().restore(), Version{}) << "nothing is there yet";
    EXPECT_EQ(first.store().restored_from(), Origin::nowhere);
    commit_each(first, table, 1, 3);
  }
  Epochs second = job();
  Table table(rank_, size_);
  expect_restored(second, table, 3, Origin::disk);
  expect_restored(second, table, 3, Origin::disk);
  commit_each(second, table, 4, 4);
  expect_restored(second, table, 4, Origin::memory);
}

TEST_F(DiskStores, keep_the_last_two_versions) {
  Epochs epochs = job();
  Table table(rank_, size_);
  commit_each(epochs, table, 1, 5);
  const auto found = on_disk();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].version, Version{5});
  EXPECT_EQ(found[1].version, Version{4});
}

TEST_F(DiskStores, write_only_every_so_many_commits) {
  Epochs epochs = job(3);
  Table table(rank_, size_);
  commit_each(epochs, table, 1, 8);
  const auto found = on_disk();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].version, Version{6});
  EXPECT_EQ(found[1].version, Version{3});
}

/// A disk tier without a store: commits of one member, written completely before the next commit begins.
class DiskCommits {
 public:
  DiskCommits(const DiskOptions& options, mend::Rank self) : tier_(options), self_(self) {
    members_["step"] = std::make_shared<mend::detail::ValueMember<int>>(step_);
    mend::throw_errors_of(comm_.get());
    begin_epoch(true);
  }
  void begin_epoch(bool begins_job = false) { tier_.begin_epoch(comm_.get(), begins_job); }
  /// Returns true if the commit goes to disk.
  bool commit(Version version, bool is_provisional = false) {
    tier_.hear(on_all_ranks(tier_.remarks(is_provisional ? Version{} : version)));
    const bool goes_to_disk = tier_.is_due();
    tier_.prepare(version, members_);
    mend::Bytes snapshot;
    mend::pack(members_, self_, version, snapshot);
    tier_.write(std::array{std::span<const std::byte>(snapshot)});
    tier_.wait();
    return goes_to_disk;
  }
  /// The versions from `first` to `last` that go to disk.
  std::vector<std::uint64_t> commit_each(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> written;
    for (std::uint64_t version = first; version <= last; ++version) {
      if (commit(Version{version})) written.push_back(version);
    }
    return written;
  }

 private:
  static MPI_Comm duplicate_world() {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    return made;
  }
  mend::agreement::Remarks on_all_ranks(mend::agreement::Remarks mine) const {
    MPI_Allreduce(MPI_IN_PLACE, &mine, sizeof mine, MPI_BYTE, MPI_BAND, comm_.get());
    return mine;
  }

  mend::Communicator comm_{duplicate_world()};
  mend::DiskTier tier_;
  mend::Rank self_;
  int step_ = 7;
  mend::Members members_;
};

TEST_F(DiskStores, write_versions_that_are_as_many_commits_apart_as_was_asked_for) {
  DiskCommits commits(disk(10), mend::Rank{rank_});
  EXPECT_THAT(commits.commit_each(1, 36), testing::ElementsAre(10U, 20U, 30U));
  const auto found = on_disk();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].version, Version{30});
  EXPECT_EQ(found[1].version, Version{20});
}

TEST_F(DiskStores, keep_that_distance_though_provisional_commits_come_between) {
  DiskCommits commits(disk(10), mend::Rank{rank_});
  EXPECT_THAT(commits.commit_each(1, 10), testing::ElementsAre(10U));
  for (std::uint64_t version = 11; version <= 14; ++version)
    EXPECT_FALSE(commits.commit(Version{version}, true)) << version;
  EXPECT_THAT(commits.commit_each(15, 21), testing::ElementsAre(20U));
}

TEST_F(DiskStores, keep_that_distance_though_a_failure_comes_while_a_version_becomes_complete) {
  DiskCommits commits(disk(10), mend::Rank{rank_});
  EXPECT_THAT(commits.commit_each(1, 11), testing::ElementsAre(10U));
  ASSERT_EQ(on_disk().size(), 1U) << "rank 0 has made it complete, and the others have not heard of it";
  commits.begin_epoch();
  EXPECT_THAT(commits.commit_each(12, 22), testing::ElementsAre(20U));
}

TEST_F(DiskStores, begin_anew_at_once_when_a_failure_interrupts_the_writing) {
  DiskCommits commits(disk(10), mend::Rank{rank_});
  EXPECT_THAT(commits.commit_each(1, 10), testing::ElementsAre(10U));
  commits.begin_epoch();
  EXPECT_THAT(on_disk(), testing::IsEmpty());
  EXPECT_THAT(commits.commit_each(11, 22), testing::ElementsAre(11U, 21U));
}

TEST_F(DiskStores, do_not_wait_for_what_is_being_written) {
  Epochs epochs = job();
  Table table(rank_, size_);
  // Rank 0 keeps writing while the others commit.
  std::atomic<bool> may_go_on = false;
  if (rank_ == 0) {
    mend::on_fault_point([&](std::string_view point) {
      if (point == "disk.rename") may_go_on.wait(false);
    });
  }
  for (int step = 1; step <= 6; ++step) {
    table.set(step);
    table.protect_in(epochs.store());
    epochs.store().commit();
  }
  EXPECT_TRUE(on_disk().empty());
  may_go_on = true;
  may_go_on.notify_all();
  epochs.store().finish_disk();
  mend::on_fault_point({});
  ASSERT_EQ(on_disk().size(), 1U);
  EXPECT_EQ(on_disk().front().version, Version{1}) << "what was copied when it was due";
  Epochs second = job();
  expect_restored(second, table, 1, Origin::disk);
}

TEST_F(DiskStores, give_the_same_arrays_to_fewer_ranks_and_to_more) {
  const int few = std::max(1, size_ / 2);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ < few ? 0 : 1, rank_, &some);
  const auto play = [&](MPI_Comm comm, int step) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    Epochs epochs = job(1, comm);
    Table table(rank, ranks);
    if (step > 1) expect_restored(epochs, table, step - 1, Origin::disk);
    commit_each(epochs, table, step, step);
  };
  play(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ < few) play(some, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  play(MPI_COMM_WORLD, 3);
  MPI_Comm_free(&some);
}

TEST_F(DiskStores, refuse_what_is_kept_rank_by_rank_to_another_number_of_ranks) {
  if (size_ == 1) GTEST_SKIP() << "fewer ranks are wanted";
  std::vector<int> own(5, rank_);
  {
    Epochs epochs = job();
    epochs.store().protect("own", own);
    epochs.store().commit();
    epochs.store().finish_disk();
  }
  {
    Epochs again = job();
    own.assign(2, -1);
    again.store().protect("own", own);
    again.store().restore();
    EXPECT_EQ(own, std::vector<int>(5, rank_));
  }
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ == 0 ? 0 : MPI_UNDEFINED, 0, &some);
  if (rank_ != 0) return;
  Epochs alone = job(1, some);
  alone.store().protect("own", own);
  try {
    alone.store().restore();
    ADD_FAILURE() << "restored to another number of ranks";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(fmt::format(
                                  "'own' is kept rank by rank, and version 1 on disk was written by {} ranks", size_)));
  }
  MPI_Comm_free(&some);
}

TEST_F(DiskStores, refuse_elements_that_nobody_had_where_parts_overlap) {
  std::vector<int> values(12, 7);
  {
    Epochs first = job();
    first.store().protect("u", mend::part(values, {20}, {0}, {12}));
    first.store().commit();
    first.store().finish_disk();
  }
  Epochs second = job();
  values.assign(20, -1);
  second.store().protect("u", mend::part(values, {20}, {0}, {20}));
  try {
    second.store().restore();
    ADD_FAILURE() << "restored what nobody had";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("8 elements of member 'u'"));
  }
}

TEST_F(DiskStores, give_up_what_is_being_written_when_a_version_before_is_gone_back_to) {
  Table table(rank_, size_);
  {
    Epochs first = job();
    commit_each(first, table, 1, 1);
    table.set(2);
    first.store().commit();  // on its way to disk
    EXPECT_EQ(first.store().restore(Version{1}), Version{1});
    table.set(12);
    EXPECT_EQ(first.store().commit(), Version{2});
    first.store().finish_disk();
  }
  Epochs second = job();
  table.protect_in(second.store());
  EXPECT_EQ(second.store().restore(), Version{2});
  table.expect(12);
}

/// The newest version is damaged in memory. It is on disk, too, but the job does not go on from it.
TEST_F(DiskStores, put_a_version_aside_behind_which_a_restore_has_gone_back) {
  for (const bool from_a_rank : {false, true}) {
    SCOPED_TRACE(from_a_rank);
    at_rest([&] {
      std::filesystem::remove_all(folder_);
      std::filesystem::create_directory(folder_);
    });
    int step = 0;
    const auto protect_in = [&](mend::Store& store) {
      store.protect("step", step);
      store.protect("marked", std::make_unique<Marked>(), mend::Redundancy::parse("local"));
    };
    {
      Epochs first = job();
      protect_in(first.store());
      for (step = 1; step <= 2; ++step) {
        first.store().commit();
        first.store().finish_disk();
      }
      if (rank_ == 0) *Marked::last_place ^= std::byte{1};
      EXPECT_EQ(from_a_rank ? first.store().restore_from(mend::Rank{rank_}) : first.store().restore(), Version{1});
      EXPECT_EQ(step, 1);
      ASSERT_EQ(on_disk().size(), 1U);
      EXPECT_EQ(on_disk().front().version, Version{1});
      EXPECT_EQ(folders("aside-version-"), 1U);
      step = 12;
      EXPECT_EQ(first.store().commit(), Version{2});
      first.store().finish_disk();
    }
    Epochs second = job();
    step = -1;
    protect_in(second.store());
    EXPECT_EQ(second.store().restore(), Version{2});
    EXPECT_EQ(step, 12);
  }
}

TEST_F(DiskStores, count_from_what_is_on_disk_and_not_from_what_was_gone_back_to) {
  Epochs epochs = job(3);
  Table table(rank_, size_);
  table.protect_in(epochs.store());
  for (int step = 1; step <= 2; ++step) epochs.store().commit();
  epochs.store().restore(Version{2});
  epochs.store().commit();
  epochs.store().finish_disk();
  EXPECT_EQ(on_disk().size(), 1U);
}

TEST_F(DiskStores, write_the_commit_that_ends_what_was_provisional) {
  Epochs epochs = job();
  Table table(rank_, size_);
  table.protect_in(epochs.store());
  epochs.store().hold();
  epochs.store().commit();
  epochs.store().finish_disk();
  EXPECT_THAT(on_disk(), testing::IsEmpty());
  epochs.store().commit_and_let_go();
  epochs.store().finish_disk();
  ASSERT_EQ(on_disk().size(), 1U);
  EXPECT_EQ(on_disk().front().version, Version{2});
}

TEST_F(DiskStores, write_a_commit_that_is_not_finished_yet) {
  Epochs epochs = job();
  Table table(rank_, size_);
  table.protect_in(epochs.store());
  epochs.store().commit_async();
  epochs.store().finish_disk();
  EXPECT_EQ(on_disk().size(), 1U);
}

TEST_F(DiskStores, do_not_take_a_ranks_own_data_for_anothers) {
  Table table(rank_, size_);
  {
    Epochs first = job();
    commit_each(first, table, 1, 1);
  }
  Epochs second = job();
  table.set(-1);
  table.protect_in(second.store());
  EXPECT_THROW(second.store().restore_from(mend::Rank{0}), UsageError);
  expect_restored(second, table, 1, Origin::disk);
}

TEST_F(DiskStores, do_not_write_what_was_damaged_where_it_lay) {
  std::vector<double> field(100 * mend::page_bytes / sizeof(double), rank_);
  const std::vector<double> committed = field;
  const auto protect_in = [&](mend::Store& store) {
    store.protect("field", field);
    store.protect("marked", std::make_unique<Marked>());  // lies behind the field
  };
  {
    Epochs first = job(4);
    protect_in(first.store());
    for (int step = 1; step <= 4; ++step) {
      first.store().commit();
      if (step == 2 && rank_ == 0)
        Marked::last_place[-50 * static_cast<std::ptrdiff_t>(mend::page_bytes)] ^= std::byte{1};
    }
    first.store().finish_disk();
  }
  Epochs second = job(4);
  field.assign(field.size(), -1);
  protect_in(second.store());
  EXPECT_EQ(second.store().restore(), Version{4});
  EXPECT_EQ(field, committed);
}

TEST_F(DiskStores, keep_arrays_without_elements) {
  std::vector<int> nothing;
  int step = 5;
  const auto protect_in = [&](mend::Store& store) {
    store.protect("nothing", mend::part(nothing, {0, 3}, {0, 0}, {0, 3}));
    store.protect("step", mend::replicated(step));
  };
  {
    Epochs first = job();
    protect_in(first.store());
    first.store().commit();
    first.store().finish_disk();
  }
  Epochs second = job();
  step = 0;
  protect_in(second.store());
  EXPECT_EQ(second.store().restore(), Version{1});
  EXPECT_EQ(step, 5);
  EXPECT_TRUE(nothing.empty());
}

TEST_F(DiskStores, take_the_version_before_when_anything_of_the_last_is_damaged) {
  for (const char* file : {"rank-00000.h5", mend::manifest_name}) {
    for (const bool torn : {false, true}) {
      SCOPED_TRACE(testing::Message() << file << (torn ? " torn" : " flipped"));
      at_rest([&] {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directory(folder_);
      });
      Table table(rank_, size_);
      {
        Epochs epochs = job();
        commit_each(epochs, table, 1, 2);
      }
      at_rest([&] {
        const auto path = mend::complete_versions(folder_).front().folder / file;
        const auto half = std::filesystem::file_size(path) / 2;
        if (torn) {
          std::filesystem::resize_file(path, half);
        } else {
          std::string text = mend::read_file(path);
          text[half] = static_cast<char>(text[half] ^ 1);
          std::ofstream(path, std::ios::binary) << text;
        }
      });
      Epochs epochs = job();
      expect_restored(epochs, table, 1, Origin::disk);
      commit_each(epochs, table, 2, 2);
      const auto found = on_disk();
      ASSERT_EQ(found.size(), 2U) << "what is damaged does not count";
      EXPECT_EQ(found.front().version, Version{2});
      Epochs next = job();
      expect_restored(next, table, 2, Origin::disk);
    }
  }
}

/// Returns why nothing can be restored.
std::string loss_at_restore(Epochs& epochs) {
  try {
    epochs.store().restore();
  } catch (const DataLoss& loss) {
    return loss.what();
  }
  ADD_FAILURE() << "something was restored";
  return {};
}

TEST_F(DiskStores, refuse_to_begin_anew_over_versions_that_are_all_damaged) {
  Table table(rank_, size_);
  {
    Epochs epochs = job();
    commit_each(epochs, table, 1, 2);
  }
  at_rest([&] {
    for (const auto& version : mend::complete_versions(folder_))
      std::filesystem::resize_file(version.folder / "rank-00000.h5", 100);
  });
  Epochs epochs = job();
  table.protect_in(epochs.store());
  EXPECT_THAT(loss_at_restore(epochs), HasSubstr("no version of the data in " + folder_.string() + " can be used"));
}

TEST_F(DiskStores, refuse_to_begin_anew_when_the_folder_cannot_be_read) {
  Table table(rank_, size_);
  {
    Epochs epochs = job();
    commit_each(epochs, table, 1, 1);
  }
  at_rest([&] {
    std::filesystem::rename(folder_, folder_.string() + ".moved");
    std::ofstream(folder_) << "no folder";
  });
  Epochs epochs = job();
  table.protect_in(epochs.store());
  EXPECT_THAT(loss_at_restore(epochs),
              HasSubstr("the folder " + folder_.string() + " for checkpoints on disk cannot be read: "));
  at_rest([&] {
    std::filesystem::remove(folder_);
    std::filesystem::rename(folder_.string() + ".moved", folder_);
  });
  Epochs next = job();
  expect_restored(next, table, 1, Origin::disk);
}

TEST_F(DiskStores, bring_back_from_disk_what_memory_has_lost) {
  if (size_ < 3) GTEST_SKIP() << "somebody must live who knows that there was a commit";
  Epochs epochs = job(2);
  Table table(rank_, size_);
  commit_each(epochs, table, 1, 5);
  epochs.next({1, 2});
  expect_restored(epochs, table, 4, Origin::disk);
  commit_each(epochs, table, 5, 6);
  epochs.next({1});
  expect_restored(epochs, table, 6, Origin::memory);
}

TEST_F(DiskStores, go_on_counting_and_writing_after_all_memory_is_lost) {
  Epochs epochs = job(2);
  Table table(rank_, size_);
  commit_each(epochs, table, 1, 5);
  std::vector<int> everyone;
  for (int rank = 0; rank < size_; ++rank) everyone.push_back(rank);
  epochs.next(everyone);
  expect_restored(epochs, table, 4, Origin::disk);
  commit_each(epochs, table, 5, 6);
  EXPECT_EQ(on_disk().front().version, Version{6});
}

TEST_F(DiskStores, restore_older_versions_on_request_and_put_the_newer_aside) {
  Epochs epochs = job();
  Table table(rank_, size_);
  commit_each(epochs, table, 1, 3);
  Epochs next = job();
  table.protect_in(next.store());
  EXPECT_EQ(next.store().restore(Version{2}), Version{2});
  table.expect(2);
  const auto found = on_disk();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().version, Version{2});
  EXPECT_EQ(folders("aside-version-"), 1U) << "3 is kept";
  EXPECT_THROW(next.store().restore(Version{3}), UsageError);
}

TEST_F(DiskStores, give_up_a_version_that_a_failure_interrupts_and_begin_anew) {
  Epochs epochs = job();
  Table table(rank_, size_);
  commit_each(epochs, table, 1, 1);
  table.set(2);
  epochs.store().commit();
  epochs.next();
  expect_restored(epochs, table, 2, Origin::memory);
  // The first commit that finds no writing under way goes to disk.
  for (int step = 3; step < 10'000 && on_disk().size() < 2; ++step) commit_each(epochs, table, step, step);
  const auto found = on_disk();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_GE(found[0].version, Version{3});
  EXPECT_EQ(found[1].version, Version{1});
}

TEST_F(DiskStores, leave_nothing_of_a_version_that_fails_before_it_is_complete) {
  for (const std::string_view place : {"disk.index", "disk.manifest", "disk.clean"}) {
    SCOPED_TRACE(testing::Message() << place);
    at_rest([&] {
      std::filesystem::remove_all(folder_);
      std::filesystem::create_directory(folder_);
    });
    Epochs epochs = job();
    Table table(rank_, size_);
    commit_each(epochs, table, 1, 1);
    mend::on_fault_point([&](std::string_view point) {
      if (point == place) throw mend::EnvironmentError("the disk is full");
    });
    commit_each(epochs, table, 2, 3);
    mend::on_fault_point({});
    const bool complete = place == "disk.clean";
    EXPECT_EQ(on_disk().size(), complete ? 2U : 1U) << "a manifest makes it complete";
    EXPECT_EQ(folders("version-"), on_disk().size());
  }
}

TEST_F(DiskStores, put_aside_what_a_job_has_left_that_is_not_gone_on_from) {
  Table table(rank_, size_);
  {
    Epochs first = job();
    commit_each(first, table, 1, 4);
  }
  {
    Epochs second = job();
    commit_each(second, table, 1, 3);
  }
  auto found = on_disk();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.front().version, Version{3});
  EXPECT_EQ(folders("aside-version-"), 2U) << "4 and 3 of the first";
  Epochs third = job();
  expect_restored(third, table, 3, Origin::disk);
  commit_each(third, table, 4, 4);
  EXPECT_EQ(on_disk().front().version, Version{4});
  EXPECT_EQ(folders("aside-version-"), 2U) << "what was gone on from is the job's own";
}

TEST_F(DiskStores, put_aside_what_another_job_has_left_but_nothing_of_their_own_whoever_has_died) {
  if (size_ == 1) GTEST_SKIP() << "somebody must live who knows that nothing was restored";
  Table table(rank_, size_);
  {
    Epochs first = job();
    commit_each(first, table, 1, 9);
  }
  Epochs second = job(3);
  commit_each(second, table, 1, 2);
  EXPECT_EQ(on_disk().front().version, Version{9}) << "nothing to be written yet";
  second.next({0});
  expect_restored(second, table, 2, Origin::memory);
  commit_each(second, table, 3, 4);
  ASSERT_EQ(on_disk().size(), 1U);
  EXPECT_EQ(on_disk().front().version, Version{3});
  EXPECT_EQ(folders("aside-version-"), 2U);
  for (const int newcomer : {0, 1}) {
    second.next({newcomer});
    expect_restored(second, table, 4 + 3 * newcomer, Origin::memory);
    commit_each(second, table, 5 + 3 * newcomer, 7 + 3 * newcomer);
  }
  EXPECT_EQ(on_disk().size(), 2U);
  EXPECT_EQ(on_disk().front().version, Version{9});
  EXPECT_EQ(folders("aside-version-"), 2U);
}

TEST_F(DiskStores, refuse_names_that_are_not_UTF_8) {
  int value = 0;
  Epochs epochs = job();
  EXPECT_THROW(epochs.store().protect("te\xe9", value), UsageError);
  Epochs in_memory;
  EXPECT_NO_THROW(in_memory.store().protect("te\xe9", value));
}

TEST_F(DiskStores, take_the_version_before_when_a_manifest_is_a_pipe) {
  Table table(rank_, size_);
  {
    Epochs epochs = job();
    commit_each(epochs, table, 1, 2);
  }
  at_rest([&] {
    const auto manifest = mend::complete_versions(folder_).front().folder / mend::manifest_name;
    std::filesystem::remove(manifest);
    ASSERT_EQ(::mkfifo(manifest.c_str(), 0600), 0);
  });
  Epochs epochs = job();
  expect_restored(epochs, table, 1, Origin::disk);
}

TEST_F(DiskStores, go_on_without_the_disk_when_it_fails) {
  Epochs epochs = job();
  Table table(rank_, size_);
  commit_each(epochs, table, 1, 1);
  at_rest([&] {
    std::filesystem::rename(folder_, folder_.string() + ".moved");
    std::ofstream(folder_) << "no folder";
  });
  commit_each(epochs, table, 2, 4);
  epochs.next({size_ - 1});
  if (size_ > 1) expect_restored(epochs, table, 4, Origin::memory);
  at_rest([&] {
    std::filesystem::remove(folder_);
    std::filesystem::rename(folder_.string() + ".moved", folder_);
  });
  commit_each(epochs, table, 5, 6);
  EXPECT_EQ(on_disk().size(), size_ > 1 ? 1U : 2U) << "a rank that is alone and new has not noticed";
}

TEST_F(DiskStores, need_no_more_memory_than_others_after_the_disk_has_failed) {
  Epochs epochs = job();
  Epochs in_memory;
  Table table(rank_, size_);
  mend::on_fault_point([](std::string_view point) {
    if (point == "disk.rename") throw mend::EnvironmentError("the disk is full");
  });
  commit_each(epochs, table, 1, 3);
  mend::on_fault_point({});
  commit_each(in_memory, table, 1, 3);
  EXPECT_EQ(epochs.store().disk_use(), mend::DiskUse::given_up);
  EXPECT_EQ(epochs.store().statistics().memory_bytes, in_memory.store().statistics().memory_bytes);
}

TEST_F(DiskStores, bring_what_is_left_of_all_ranks_to_disk) {
  if (size_ < 4) GTEST_SKIP() << "four ranks are wanted";
  struct Case {
    std::vector<const char*> redundancies;
    std::vector<int> dead;
  };
  int number = 0;
  for (const Case& c : {Case{{"partner"}, {1}}, Case{{"partner", "replicas:2"}, {0}}, Case{{"xor:4", "partner"}, {2}},
                        Case{{"rs:2+2", "replicas:2", "partner"}, {3}}, Case{{"rs:2+2", "replicas:2"}, {0, 1}}}) {
    const DiskOptions options{std::filesystem::path(folder_) / fmt::format("case-{}", number++), 1000};
    SCOPED_TRACE(options.folder.string());
    if (rank_ == 0) mend::prepare_folder(options.folder);
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::vector<long>> fields(c.redundancies.size(),
                                          std::vector<long>(static_cast<std::size_t>(100 + 50 * rank_)));
    const auto protect_in = [&](Epochs& epochs) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        epochs.store().protect(fmt::format("field {}", i), fields[i], mend::Redundancy::parse(c.redundancies[i]));
      }
    };
    const auto value = [&](std::size_t field, int version) {
      return 1000 * version + 10 * rank_ + static_cast<long>(field);
    };
    Epochs job({}, {}, 2, options);
    protect_in(job);
    for (int version = 1; version <= 3; ++version) {
      for (std::size_t i = 0; i < fields.size(); ++i) std::ranges::fill(fields[i], value(i, version));
      job.store().commit();
    }
    const bool dies = std::ranges::find(c.dead, rank_) != c.dead.end();
    MPI_Comm left = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, dies ? MPI_UNDEFINED : 0, rank_, &left);
    for (int again = 0; again < 2 && !dies; ++again) {
      job.go_on_among(left);
      job.store().save_what_is_left();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const auto there = mend::complete_versions(options.folder);
    ASSERT_EQ(there.size(), 1U);
    EXPECT_EQ(there.front().version, Version{3});
    MPI_Barrier(MPI_COMM_WORLD);
    Epochs next({}, {}, 2, options);
    for (auto& field : fields) std::ranges::fill(field, -1);
    protect_in(next);
    EXPECT_EQ(next.store().restore(), Version{3});
    for (std::size_t i = 0; i < fields.size(); ++i) EXPECT_THAT(fields[i], testing::Each(value(i, 3)));
    if (left != MPI_COMM_NULL) MPI_Comm_free(&left);
  }
}

}  // namespace
