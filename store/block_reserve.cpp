#include "store/block_reserve.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>

namespace mend {
namespace {

constexpr std::align_val_t alignment{large_page};

/// Populated at a time: some ms.
constexpr ByteCount portion = 8 * large_page;

}  // namespace

void* new_large(ByteCount bytes) {
  void* const memory = ::operator new(bytes, alignment);
  ::madvise(memory, bytes / large_page * large_page, MADV_HUGEPAGE);
  return memory;
}

void populate([[maybe_unused]] void* memory, [[maybe_unused]] ByteCount bytes) {
#ifdef MADV_POPULATE_WRITE
  ::madvise(memory, bytes / large_page * large_page, MADV_POPULATE_WRITE);
#endif
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
  clear();
  for (const ByteCount size : sizes) {
    if (size >= large_page) ready_.emplace(size, new_large(size));
  }
  for (const auto& [size, memory] : ready_) {
    for (ByteCount begin = 0; begin < size && go_on(); begin += portion) {
      populate(static_cast<std::byte*>(memory) + begin, std::min(portion, size - begin));
    }
  }
}

void* BlockReserve::take(ByteCount bytes) {
  const std::lock_guard lock(mutex_);
  const auto least = ready_.lower_bound(bytes);
  if (least == ready_.end() || least->first / 2 > bytes) return nullptr;
  return ready_.extract(least).mapped();
}

ByteCount BlockReserve::bytes() const {
  const std::lock_guard lock(mutex_);
  ByteCount sum = 0;
  for (const auto& [size, memory] : ready_) sum += size;
  return sum;
}

void BlockReserve::clear() {
  for (const auto& [size, memory] : ready_) ::operator delete(memory, alignment);
  ready_.clear();
}

}  // namespace mend
