#include "store/snapshot/memory/block_reserve.hpp"

#include "base/clock.hpp"
#include "store/snapshot/memory/page_choice.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <new>

namespace mend {
namespace {

constexpr ByteCount small_page = ByteCount{4} << 10;

ByteCount whole_pages(ByteCount bytes) { return (bytes + small_page - 1) / small_page * small_page; }

/// The amount that is populated at a time; takes some ms.
constexpr ByteCount portion = 8 * large_page;

#ifdef MADV_POPULATE_WRITE

/// Returns the processor time of this thread. Time in which the thread waits for a processor is not a cost of pages.
Clock::duration processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

void populate(std::byte* memory, ByteCount bytes, PageChoice& choice) {
  bool any_small = false;
  for (ByteCount at = 0; at + large_page <= bytes; at += large_page) {
    const PageSize size = choice.next();
    const auto before = processor_time();
    if (size == PageSize::small) ::madvise(memory + at, large_page, MADV_NOHUGEPAGE);
    if (::madvise(memory + at, large_page, MADV_POPULATE_WRITE) != 0) break;
    choice.note(size, processor_time() - before);
    any_small = any_small || size == PageSize::small;
  }
  // The kernel may make large pages of small ones later, in a thread of its own.
  if (any_small) ::madvise(memory, whole_pages(bytes), MADV_HUGEPAGE);
}

#else

void populate(std::byte*, ByteCount, PageChoice&) {}

#endif

}  // namespace

void* new_large(ByteCount bytes) {
  const ByteCount length = whole_pages(bytes);
  void* const mapped = ::mmap(nullptr, length + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(mapped);
  const ByteCount before = large_page - reinterpret_cast<std::uintptr_t>(begin) % large_page;
  ::munmap(begin, before);
  ::munmap(begin + before + length, large_page - before);
  ::madvise(begin + before, length, MADV_HUGEPAGE);
  return begin + before;
}

void delete_large(void* memory, ByteCount bytes) { ::munmap(memory, whole_pages(bytes)); }

void populate(void* memory, ByteCount bytes) {
  PageChoice choice;
  populate(static_cast<std::byte*>(memory), bytes, choice);
}

ByteCount with_room_to_grow(ByteCount bytes) {
  const ByteCount step = std::max(large_page, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

BlockReserve& BlockReserve::instance() {
  static BlockReserve reserve;
  return reserve;
}

void BlockReserve::prepare(std::span<const ByteCount> sizes, const std::function<bool()>& go_on) {
  const std::lock_guard lock(mutex_);
  free_all();
  try {
    for (const ByteCount size : sizes) {
      if (size >= large_page) ready_.emplace(size, new_large(size));
    }
  } catch (const std::bad_alloc&) {
    free_all();
  }
  PageChoice choice;
  for (const auto& [size, memory] : ready_) {
    for (ByteCount begin = 0; begin < size && go_on(); begin += portion) {
      populate(static_cast<std::byte*>(memory) + begin, std::min(portion, size - begin), choice);
    }
  }
}

void* BlockReserve::take(ByteCount bytes) {
  const std::lock_guard lock(mutex_);
  const auto least = ready_.lower_bound(bytes);
  if (least == ready_.end() || least->first / 2 > bytes) return nullptr;
  const auto taken = ready_.extract(least);
  const ByteCount used = whole_pages(bytes);
  const ByteCount had = whole_pages(taken.key());
  if (had > used) ::munmap(static_cast<std::byte*>(taken.mapped()) + used, had - used);
  return taken.mapped();
}

ByteCount BlockReserve::bytes() const {
  const std::lock_guard lock(mutex_);
  ByteCount sum = 0;
  for (const auto& [size, memory] : ready_) sum += size;
  return sum;
}

void BlockReserve::free_all() {
  for (const auto& [size, memory] : ready_) delete_large(memory, size);
  ready_.clear();
}

}  // namespace mend
