// Memory for snapshots and parities: large, written as a whole, and asked for in the middle of a commit.

#pragma once

#include <sys/mman.h>

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
    void* memory = ::operator new(bytes, alignment(count));
    if (bytes >= large_page) prepare(memory, bytes / large_page * large_page);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count)); }

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
  /// Asks for large pages, at once. Where the kernel does not know that, memory comes page by page when it is written.
  static void prepare(void* memory, std::size_t bytes) {
    ::madvise(memory, bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    ::madvise(memory, bytes, MADV_POPULATE_WRITE);
#endif
  }

  static constexpr std::size_t large_page = std::size_t{2} << 20;
  static std::align_val_t alignment(std::size_t count) {
    return std::align_val_t{count * sizeof(T) >= large_page ? large_page : std::size_t{64}};
  }
};

using Bytes = std::vector<std::byte, BlockAllocator<std::byte>>;

}  // namespace mend
