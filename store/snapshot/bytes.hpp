// Memory for snapshots and parities: large, written as a whole, and asked for in the middle of a commit.

#pragma once

#include "store/snapshot/block_reserve.hpp"

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace mend {

/// Where blocks lie: on a boundary of a cache line, large ones in large pages, which are a fraction of the page faults.
/// Elements that are not given a value have any: a vector that grows is about to be written.
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

/// Gives a block another size, and keeps what it holds as far as that goes. A vector by itself would double its memory
/// when it grows, and never give any back; here what is too much is an eighth of what has grown, or half of what has
/// shrunk.
inline void resize_block(Bytes& block, std::size_t size) {
  const bool grows = !block.empty() && size > block.capacity();
  if (size > block.capacity()) block.reserve(grows ? size + size / 8 : size);
  block.resize(size);
  if (size < block.capacity() / 2) block.shrink_to_fit();
}

}  // namespace mend
