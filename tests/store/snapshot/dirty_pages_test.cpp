#include "store/snapshot/dirty_pages.hpp"
#include "tests/support/kernel.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

namespace {

using mend::ByteRange;
using mend::DirtyPages;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr std::size_t kernel_page = 4096;

/// Pages that only this process has, all of them written.
class Pages {
 public:
  explicit Pages(std::size_t count, int flags = MAP_PRIVATE)
      : bytes_(count * kernel_page), begin_(map(nullptr, flags)) {
    std::memset(begin_, 1, bytes_);
  }
  ~Pages() { ::munmap(begin_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<std::byte> all() { return {static_cast<std::byte*>(begin_), bytes_}; }
  void write(std::size_t at) { all()[at] ^= std::byte{1}; }
  void map_anew() { map(begin_, MAP_PRIVATE | MAP_FIXED); }

 private:
  void* map(void* at, int flags) const {
    return ::mmap(at, bytes_, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  }

  std::size_t bytes_;
  void* begin_;
};

/// Linux 6.7 can report which pages were written, to a process that may handle its own page faults.
bool kernel_reports_writes() {
  const int faults = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  if (faults >= 0) ::close(faults);
  return faults >= 0 && support::kernel_is_at_least(6, 7);
}

TEST(DirtyPages, are_possible_where_the_kernel_reports_writes) {
  if (!kernel_reports_writes()) GTEST_SKIP() << "before Linux 6.7, or not permitted";
  EXPECT_TRUE(DirtyPages::is_possible());
}

class DirtyPagesOf : public testing::Test {
 protected:
  void SetUp() override {
    if (!DirtyPages::is_possible())
      GTEST_SKIP() << "this kernel does not report which pages were written (Linux 6.7 and later do)";
  }
};

TEST_F(DirtyPagesOf, tells_which_pages_were_written_since_it_was_asked_last) {
  Pages pages(100);
  const auto watch = DirtyPages::begin(pages.all());
  ASSERT_TRUE(watch);
  EXPECT_THAT(watch->take(), Optional(IsEmpty()));
  pages.write(0);
  pages.write(7 * kernel_page + 5);
  pages.write(8 * kernel_page);
  pages.write(100 * kernel_page - 1);
  EXPECT_THAT(watch->take(),
              Optional(ElementsAre(ByteRange{0, kernel_page}, ByteRange{7 * kernel_page, 9 * kernel_page},
                                   ByteRange{99 * kernel_page, 100 * kernel_page})));
  EXPECT_THAT(watch->take(), Optional(IsEmpty()));
  pages.write(8 * kernel_page);
  EXPECT_THAT(watch->take(), Optional(ElementsAre(ByteRange{8 * kernel_page, 9 * kernel_page})));
}

TEST_F(DirtyPagesOf, misses_nothing_of_many_writes) {
  constexpr std::size_t count = 3000;
  Pages pages(count);
  const auto watch = DirtyPages::begin(pages.all());
  ASSERT_TRUE(watch);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<bool> written(count, false);
    for (int i = 0; i < 1 << (round % 12); ++i) {
      const std::size_t at = random() % (count * kernel_page);
      pages.write(at);
      written[at / kernel_page] = true;
    }
    const auto told = watch->take();
    ASSERT_TRUE(told);
    std::vector<bool> found(count, false);
    for (const ByteRange& range : *told) {
      for (std::size_t i = range.begin / kernel_page; i < range.end / kernel_page; ++i) found[i] = true;
    }
    EXPECT_EQ(found, written) << "round " << round;
  }
}

TEST_F(DirtyPagesOf, knows_what_the_kernel_writes_for_the_process) {
  Pages pages(10);
  const auto watch = DirtyPages::begin(pages.all());
  ASSERT_TRUE(watch);
  const int zeros = ::open("/dev/zero", O_RDONLY);
  ASSERT_EQ(::read(zeros, pages.all().data() + 3 * kernel_page, 10), 10);
  ::close(zeros);
  EXPECT_THAT(watch->take(), Optional(ElementsAre(ByteRange{3 * kernel_page, 4 * kernel_page})));
  ::madvise(pages.all().data() + 6 * kernel_page, kernel_page, MADV_DONTNEED);  // makes the page zeros
  EXPECT_THAT(watch->take(), Optional(ElementsAre(ByteRange{6 * kernel_page, 7 * kernel_page})));
}

/// As MPI's shared-memory transport does (cross-memory attach).
TEST_F(DirtyPagesOf, knows_what_another_process_writes_by_a_system_call) {
  Pages pages(10);
  const auto watch = DirtyPages::begin(pages.all());
  ASSERT_TRUE(watch);
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 7;
    const iovec from{&byte, 1};
    const iovec to{pages.all().data() + 4 * kernel_page + 17, 1};
    ::_exit(::process_vm_writev(::getppid(), &from, 1, &to, 1, 0) == 1 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) GTEST_SKIP() << "processes may not write into each other here";
  EXPECT_EQ(pages.all()[4 * kernel_page + 17], std::byte{7});
  EXPECT_THAT(watch->take(), Optional(ElementsAre(ByteRange{4 * kernel_page, 5 * kernel_page})));
}

TEST_F(DirtyPagesOf, always_names_what_shares_a_page_with_something_else) {
  Pages pages(10);
  const auto watch = DirtyPages::begin(pages.all().subspan(100, 5 * kernel_page));
  ASSERT_TRUE(watch);
  EXPECT_THAT(watch->take(), Optional(ElementsAre(ByteRange{0, kernel_page - 100},
                                                  ByteRange{5 * kernel_page - 100, 5 * kernel_page})));
  pages.write(9 * kernel_page);
  pages.write(2 * kernel_page);
  EXPECT_THAT(watch->take(), Optional(ElementsAre(ByteRange{0, kernel_page - 100},
                                                  ByteRange{2 * kernel_page - 100, 3 * kernel_page - 100},
                                                  ByteRange{5 * kernel_page - 100, 5 * kernel_page})));
}

TEST_F(DirtyPagesOf, does_not_know_memory_that_was_mapped_anew) {
  Pages pages(10);
  const auto watch = DirtyPages::begin(pages.all());
  ASSERT_TRUE(watch);
  pages.map_anew();
  EXPECT_EQ(watch->take(), std::nullopt);
}

TEST_F(DirtyPagesOf, goes_on_when_the_process_has_a_child) {
  Pages pages(10);
  const auto watch = DirtyPages::begin(pages.all());
  ASSERT_TRUE(watch);
  const pid_t child = ::fork();
  if (child == 0) {
    pages.write(kernel_page);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  pages.write(4 * kernel_page);
  EXPECT_THAT(watch->take(), Optional(ElementsAre(ByteRange{4 * kernel_page, 5 * kernel_page})));
}

TEST_F(DirtyPagesOf, is_refused_for_memory_that_others_may_write) {
  Pages shared(10, MAP_SHARED);
  EXPECT_FALSE(DirtyPages::begin(shared.all()));
}

TEST_F(DirtyPagesOf, is_refused_for_less_than_a_page) {
  Pages pages(2);
  EXPECT_FALSE(DirtyPages::begin(pages.all().subspan(1, 2 * kernel_page - 2)));
  EXPECT_FALSE(DirtyPages::begin({}));
}

TEST_F(DirtyPagesOf, is_refused_for_what_is_watched_already) {
  Pages pages(10);
  auto watch = DirtyPages::begin(pages.all().subspan(2 * kernel_page, 4 * kernel_page));
  ASSERT_TRUE(watch);
  EXPECT_FALSE(DirtyPages::begin(pages.all()));
  EXPECT_FALSE(DirtyPages::begin(pages.all().subspan(5 * kernel_page, 3 * kernel_page)));
  EXPECT_FALSE(DirtyPages::begin(pages.all().subspan(0, 3 * kernel_page)));
  EXPECT_TRUE(DirtyPages::begin(pages.all().subspan(6 * kernel_page, 3 * kernel_page)));
  watch.reset();
  EXPECT_TRUE(DirtyPages::begin(pages.all()));
}

}  // namespace
