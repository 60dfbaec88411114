// Memory for snapshots and parities: large, written completely, and allocated during a commit.

#pragma once

#include "store/snapshot/memory/block_reserve.hpp"

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace mend {

/// Allocates blocks on the boundary of a cache line, and large blocks in large pages, which cause fewer page faults.
/// New elements are not initialised: a vector that grows is about to be written.
template <class T>
class BlockAllocator {
 public:
  using value_type = T;
  BlockAllocator() = default;
  template <class U>
  explicit BlockAllocator(const BlockAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < large_page) return static_cast<T*>(::operator new(bytes, cache_line));
    void* memory = BlockReserve::instance().take(bytes);
    if (memory == nullptr) {
      memory = new_large(bytes);
      populate(memory, bytes);
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    bytes < large_page ? ::operator delete(memory, cache_line) : delete_large(memory, bytes);
  }

  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(at)) U;
    } else {
      ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
  }

  bool operator==(const BlockAllocator&) const = default;

 private:
  static constexpr std::align_val_t cache_line{64};
};

using Bytes = std::vector<std::byte, BlockAllocator<std::byte>>;

/// Resizes a block that will be written anew. If its size changes, its contents may be lost. A plain vector doubles its
/// memory when it grows, keeps the old memory until then, and frees none when it shrinks. Here a block that grows has
/// an eighth more than it needs, one that shrinks has at most twice what it needs, and the old memory is freed first.
inline void resize_block(Bytes& block, std::size_t size) {
  if (size == block.size()) return;
  const bool grows = !block.empty() && size > block.capacity();
  if (size > block.capacity() || size < block.capacity() / 2) {
    block = Bytes();
    block.reserve(grows ? size + size / 8 : size);
  }
  block.resize(size);
}

}  // namespace mend
