// Memory for large blocks, prepared before it is needed.
//
// The kernel clears memory when it is first written. That takes about as long as receiving the data. A spare has its
// memory cleared while it waits; the ranks send it the sizes of their blocks (framework/epoch/spare_briefing.hpp).

#pragma once

#include "base/ids.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <span>

namespace mend {

/// Memory of this size or more uses pages of this size if the kernel has them.
inline constexpr ByteCount large_page = ByteCount{2} << 20;

/// Allocates large memory at the boundary of a large page. It is not written yet. It comes directly from the kernel,
/// and delete_large() returns it. Throws std::bad_alloc.
void* new_large(ByteCount bytes);
void delete_large(void* memory, ByteCount bytes);
/// Makes the kernel provide the pages of large memory now. No effect if the kernel cannot.
void populate(void* memory, ByteCount bytes);

/// Returns a size in which a block of `bytes` can grow by up to an eighth.
ByteCount with_room_to_grow(ByteCount bytes);

/// The reserve of this process. Any thread.
class BlockReserve {
 public:
  static BlockReserve& instance();
  ~BlockReserve() { free_all(); }

  /// Prepares memory for blocks of these sizes, and frees memory that was prepared for others. Leaves out small blocks.
  /// If there is no memory, leaves out all blocks. If `go_on` returns false, the rest of the memory is not cleared in
  /// advance.
  void prepare(std::span<const ByteCount> sizes, const std::function<bool()>& go_on);
  /// Returns prepared memory of about that size; null if there is none. Free it with delete_large().
  void* take(ByteCount bytes);
  /// Frees what has not been taken.
  void clear() {
    prepare({}, [] { return false; });
  }
  ByteCount bytes() const;

 private:
  BlockReserve() = default;
  void free_all();

  mutable std::mutex mutex_;
  std::multimap<ByteCount, void*> ready_;
};

}  // namespace mend
