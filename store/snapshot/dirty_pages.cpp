#include "store/snapshot/dirty_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

namespace mend {
namespace {

// From Linux 6.7. The system's headers may be older than its kernel.
constexpr std::uint64_t feature_wp_unpopulated = 1U << 13;
constexpr std::uint64_t feature_wp_async = 1U << 15;
constexpr int user_mode_only = 1;  // needs no privilege; the kernel's own writes are noted too

constexpr std::uint64_t page_is_written = 1U << 1;
constexpr std::uint64_t page_is_of_file = 1U << 2;
constexpr std::uint64_t protect_what_matches = 1U << 0;
constexpr std::uint64_t only_if_watched = 1U << 1;

struct PageRegion {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t categories;
};

struct PagemapScan {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t regions;
  std::uint64_t region_count;
  std::uint64_t most_pages;
  std::uint64_t category_inverted;
  std::uint64_t categories_all;
  std::uint64_t categories_any;
  std::uint64_t categories_told;
};
constexpr unsigned long pagemap_scan = _IOWR('f', 16, PagemapScan);

std::uintptr_t address_of(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

/// The interface to the kernel, and the memory that it watches.
class Kernel {
 public:
  static Kernel& instance() {
    static Kernel kernel;
    return kernel;
  }
  ~Kernel() {
    if (faults_ >= 0) ::close(faults_);
    if (pagemap_ >= 0) ::close(pagemap_);
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  bool can_watch() const { return can_watch_; }

  bool add(std::span<const std::byte> pages) {
    const std::uintptr_t begin = address_of(pages.data());
    const std::uintptr_t end = begin + pages.size();
    const auto next = watched_.lower_bound(begin);
    if (next != watched_.end() && next->first < end) return false;
    if (next != watched_.begin() && std::prev(next)->second > begin) return false;
    uffdio_register registration{{begin, pages.size()}, UFFDIO_REGISTER_MODE_WP, 0};
    if (::ioctl(faults_, UFFDIO_REGISTER, &registration) != 0) return false;
    watched_.emplace(begin, end);
    return true;
  }

  void remove(std::span<const std::byte> pages) {
    uffdio_range range{address_of(pages.data()), pages.size()};
    ::ioctl(faults_, UFFDIO_UNREGISTER, &range);  // fails if the memory does not exist any more
    watched_.erase(range.start);
  }

  /// Returns the pages that were written, relative to the beginning of `pages`, and protects them again. Returns
  /// nothing if not all of them are watched and private to this process.
  std::optional<std::vector<ByteRange>> written(std::span<const std::byte> pages) const {
    std::vector<ByteRange> ranges;
    const std::uint64_t begin = address_of(pages.data());
    std::array<PageRegion, 512> regions;
    for (std::uint64_t at = begin; at < begin + pages.size();) {
      PagemapScan scan{};
      scan.size = sizeof scan;
      scan.flags = protect_what_matches | only_if_watched;
      scan.begin = at;
      scan.end = begin + pages.size();
      scan.regions = reinterpret_cast<std::uintptr_t>(regions.data());
      scan.region_count = regions.size();
      scan.categories_any = scan.categories_told = page_is_written | page_is_of_file;
      const int found = ::ioctl(pagemap_, pagemap_scan, &scan);
      if (found < 0 || scan.walk_end <= at) return std::nullopt;
      for (const PageRegion& region : std::span(regions).first(static_cast<std::size_t>(found))) {
        if ((region.categories & page_is_of_file) != 0) return std::nullopt;
        add_range(ranges, {region.begin - begin, region.end - begin});
      }
      at = scan.walk_end;
    }
    return ranges;
  }

  ByteCount page() const { return page_; }

 private:
  Kernel() {
    faults_ = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | user_mode_only));
    if (faults_ < 0) return;
    uffdio_api api{UFFD_API, feature_wp_async | feature_wp_unpopulated, 0};
    if (::ioctl(faults_, UFFDIO_API, &api) != 0) return;
    pagemap_ = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    can_watch_ = pagemap_ >= 0;
  }

  int faults_ = -1;
  int pagemap_ = -1;
  bool can_watch_ = false;
  ByteCount page_ = static_cast<ByteCount>(::sysconf(_SC_PAGESIZE));
  std::map<std::uintptr_t, std::uintptr_t> watched_;  // begin and end
};

std::span<const std::byte> pages_within(std::span<const std::byte> memory) {
  const ByteCount page = Kernel::instance().page();
  const std::uintptr_t begin = (address_of(memory.data()) + page - 1) / page * page;
  const std::uintptr_t end = (address_of(memory.data()) + memory.size()) / page * page;
  return begin < end ? memory.subspan(begin - address_of(memory.data()), end - begin) : std::span<const std::byte>();
}

/// Returns true if no other process and no file shares the pages, because their writes are not noted.
bool is_private(std::span<const std::byte> pages) {
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t known_to = address_of(pages.data());
  const std::uintptr_t all = known_to + pages.size();
  for (std::string line; known_to < all && std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    std::array<char, 5> permissions{};
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %*x %*s %lu", &begin, &end, permissions.data(), &inode) != 4)
      return false;
    if (end <= known_to) continue;
    if (begin > known_to || permissions[3] != 'p' || inode != 0) return false;
    known_to = end;
  }
  return known_to >= all;
}

}  // namespace

bool DirtyPages::is_possible() { return Kernel::instance().can_watch(); }

std::unique_ptr<DirtyPages> DirtyPages::begin(std::span<const std::byte> memory) {
  if (!is_possible()) return nullptr;
  std::unique_ptr<DirtyPages> watch(new DirtyPages(memory));
  return watch->is_registered_ && watch->take() ? std::move(watch) : nullptr;
}

DirtyPages::DirtyPages(std::span<const std::byte> memory) : memory_(memory), pages_(pages_within(memory)) {
  is_registered_ = !pages_.empty() && is_private(pages_) && Kernel::instance().add(pages_);
}

DirtyPages::~DirtyPages() {
  if (is_registered_) Kernel::instance().remove(pages_);
}

std::optional<std::vector<ByteRange>> DirtyPages::take() {
  const auto written = Kernel::instance().written(pages_);
  if (!written) return std::nullopt;
  const auto first = static_cast<ByteCount>(pages_.data() - memory_.data());
  std::vector<ByteRange> ranges;
  add_range(ranges, {0, first});
  for (const ByteRange& range : *written) add_range(ranges, {first + range.begin, first + range.end});
  add_range(ranges, {first + pages_.size(), memory_.size()});
  return ranges;
}

}  // namespace mend
