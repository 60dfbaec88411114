// Snapshots that are packed over older ones, without reading data that is known to be unchanged.

#include "store/snapshot/change_finder.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

namespace {

using mend::ByteCount;
using mend::Bytes;
using mend::ChangeFinder;
using mend::Changes;
using mend::FindChanges;
using mend::MemberOf;
using mend::Members;
using mend::page_bytes;
using mend::Rank;
using mend::Version;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kept_versions = 3;

/// A rank's members and slots, and the actions of commits on them.
class Committing {
 public:
  explicit Committing(FindChanges how) : finder_(how, kept_versions, [this] { return has_unseen_writers; }) {
    protect();
  }

  void protect() {
    members_["field"] = MemberOf<std::vector<double>>::make(field);
    members_["text"] = MemberOf<std::vector<char>>::make(text);
  }

  Changes commit() {
    version_ = version_.next();
    Bytes& slot = slots_[version_.value % kept_versions];
    const Version older{version_.value > kept_versions ? version_.value - kept_versions : 0};
    finder_.look(members_, version_);
    known_ = finder_.since(older);
    Changes changes = pack(members_, Rank{0}, version_, slot, older != Version{}, known_);
    finder_.learn(members_, changes);
    return changes;
  }
  /// The snapshot packed into fresh memory.
  Bytes whole() const {
    Bytes snapshot;
    pack(members_, Rank{0}, version_, snapshot);
    return snapshot;
  }
  const Bytes& packed() const { return slots_[version_.value % kept_versions]; }
  const mend::WrittenSince& known() const { return known_; }
  void begin_anew() { finder_.begin_anew(); }

  std::vector<double> field = std::vector<double>(100'000);
  std::vector<char> text = std::vector<char>(1000, 'a');
  bool has_unseen_writers = false;

 private:
  Members members_;
  ChangeFinder finder_;
  std::array<Bytes, kept_versions> slots_;
  Version version_{};
  mend::WrittenSince known_;
};

TEST(ASnapshot, is_not_read_where_nothing_was_written) {
  std::vector<std::byte> data(10 * page_bytes + 100, std::byte{1});
  Members members;
  members["data"] = MemberOf<std::vector<std::byte>>::make(data);
  Bytes snapshot;
  pack(members, Rank{0}, Version{1}, snapshot);
  for (std::size_t i = 0; i < data.size(); i += page_bytes) data[i] = std::byte{2};
  const Changes changes =
      pack(members, Rank{0}, Version{2}, snapshot, true,
           {{"data", {{3 * page_bytes + 7, 3 * page_bytes + 9}, {4 * page_bytes - 1, 5 * page_bytes + 1}}}});
  EXPECT_THAT(changes.of_members, testing::ElementsAre(3 * page_bytes));
  std::vector<std::byte> back;
  Members filled;
  filled["data"] = MemberOf<std::vector<std::byte>>::make(back);
  ASSERT_EQ(unpack(snapshot, Rank{0}, Version{2}, filled), std::nullopt);
  for (std::size_t i = 0; i < data.size(); i += page_bytes) {
    const std::size_t page = i / page_bytes;
    EXPECT_EQ(back[i], page >= 3 && page <= 5 ? std::byte{2} : std::byte{1}) << "page " << page;
  }
}

class AChangeFinder : public testing::Test {
 protected:
  void SetUp() override {
    if (!mend::DirtyPages::is_possible())
      GTEST_SKIP() << "this kernel does not report which pages were written (Linux 6.7 and later do)";
  }
};

TEST_F(AChangeFinder, knows_of_members_of_which_little_changes) {
  Committing job(FindChanges::by_writes);
  for (int i = 0; i < 2 * kept_versions + 2; ++i) {
    job.field[static_cast<std::size_t>(i * 9973)] = i;
    job.commit();
    ASSERT_EQ(job.packed(), job.whole()) << i;
  }
  EXPECT_THAT(job.known(), SizeIs(1)) << "the short one is read";
  const Changes changes = job.commit();
  EXPECT_EQ(job.packed(), job.whole());
  ByteCount known = 0;
  for (const auto& range : job.known().at("field")) known += range.end - range.begin;
  EXPECT_LE(known, 6 * 4096U) << "two edges and the pages of two writes";
  EXPECT_LE(changes.of_members[0], 2 * page_bytes);
}

TEST_F(AChangeFinder, asks_only_where_it_is_to) {
  Committing job(FindChanges::by_hash);
  for (int i = 0; i < 3 * kept_versions; ++i) job.commit();
  EXPECT_THAT(job.known(), IsEmpty());
}

TEST_F(AChangeFinder, does_not_watch_what_changes_much) {
  Committing job(FindChanges::by_writes);
  for (int i = 0; i < 3 * kept_versions; ++i) {
    std::iota(job.field.begin(), job.field.end(), i);
    job.commit();
    EXPECT_THAT(job.known(), IsEmpty());
  }
}

TEST_F(AChangeFinder, gives_up_what_begins_to_change_much_or_has_moved) {
  Committing job(FindChanges::by_writes);
  const auto settle = [&] {
    for (int i = 0; i < 3 * kept_versions; ++i) job.commit();
    ASSERT_THAT(job.known(), SizeIs(1));
  };
  settle();
  std::iota(job.field.begin(), job.field.end(), 1);
  job.commit();
  EXPECT_EQ(job.packed(), job.whole());
  EXPECT_THAT(job.known(), IsEmpty());
  settle();
  job.field = std::vector<double>(job.field.size(), 5);
  job.commit();
  EXPECT_EQ(job.packed(), job.whole());
  EXPECT_THAT(job.known(), IsEmpty());
  settle();
  job.begin_anew();
  job.commit();
  EXPECT_THAT(job.known(), IsEmpty());
}

TEST_F(AChangeFinder, watches_by_itself_while_nothing_writes_unseen) {
  Committing job(FindChanges::automatic);
  for (int i = 0; i < 3 * kept_versions; ++i) job.commit();
  EXPECT_THAT(job.known(), SizeIs(1));
  job.has_unseen_writers = true;
  job.commit();
  EXPECT_THAT(job.known(), IsEmpty());
  for (int i = 0; i < 3 * kept_versions; ++i) job.commit();
  EXPECT_THAT(job.known(), IsEmpty());
  job.has_unseen_writers = false;
  for (int i = 0; i < 3 * kept_versions; ++i) job.commit();
  EXPECT_THAT(job.known(), SizeIs(1));
}

TEST_F(AChangeFinder, waits_longer_each_time_that_a_watched_member_changes_much) {
  Committing job(FindChanges::by_writes);
  const auto commits_until_known = [&] {
    for (int i = 1;; ++i) {
      job.commit();
      if (!job.known().empty() || i == 1000) return i;
    }
  };
  for (int i = 0; i < kept_versions; ++i) job.commit();  // the first ones find everything new
  int before = commits_until_known();
  int first = 0;
  for (const int longer : {1, 2, 4, 8, 16, 32, 0, 0}) {
    std::iota(job.field.begin(), job.field.end(), ++first);
    job.commit();
    // The slots change much until all of them have been packed anew.
    const int now = commits_until_known();
    if (longer != 1) {
      EXPECT_EQ(now - before, longer);
    }
    before = now;
  }
}

/// For any changes between commits, the packed snapshot is the same as without older snapshots.
TEST_F(AChangeFinder, makes_no_difference_to_what_is_packed) {
  std::mt19937 random(11);
  Committing job(FindChanges::by_writes);
  int known = 0;
  for (int i = 0; i < 600; ++i) {
    const auto what = random() % 60;
    const auto at = [&] { return random() % job.field.size(); };
    for (auto n = random() % 5; n > 0; --n) job.field[at()] = i;
    if (what == 0) std::iota(job.field.begin(), job.field.end(), i);
    if (what == 1) job.field = std::vector<double>(job.field);
    if (what == 2) job.field.resize(60'000 + random() % 80'000, i);
    if (what == 3) job.text.assign(random() % 5000, static_cast<char>(i));
    if (what == 4) job.begin_anew();
    if (what == 5) job.protect();
    if (what == 6) std::fill_n(job.field.begin() + static_cast<std::ptrdiff_t>(at() / 2), job.field.size() / 3, i);
    job.commit();
    ASSERT_EQ(job.packed(), job.whole()) << i;
    known += job.known().empty() ? 0 : 1;
  }
  EXPECT_GT(known, 50) << "of 600 commits";
}

}  // namespace
