// Memory for large blocks that is there before it is asked for.
//
// The kernel clears memory when it is written for the first time, which takes about as long as receiving what is to lie
// there. A spare has time for that while it waits; the ranks tell it what they have (framework/recovery/engine.hpp).

#pragma once

#include "base/ids.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <span>

namespace mend {

/// From this size on, memory comes in pages of this size where the kernel has such.
inline constexpr ByteCount large_page = ByteCount{2} << 20;

/// Large memory on the boundary of a large page, not written yet. Throws std::bad_alloc. From the kernel itself, to
/// which delete_large() gives it back.
void* new_large(ByteCount bytes);
void delete_large(void* memory, ByteCount bytes);
/// Has the kernel give the pages of large memory now. Without effect where it does not know how.
void populate(void* memory, ByteCount bytes);

/// So much that blocks that grow a little have room in it, too: up to an eighth more.
ByteCount with_room_to_grow(ByteCount bytes);

/// That of this process. Any thread.
class BlockReserve {
 public:
  static BlockReserve& instance();
  ~BlockReserve() { free_all(); }

  /// Has memory ready for blocks of these sizes; what was ready for others is freed. Small ones are left out, and all
  /// when there is no memory. As soon as `go_on` says no, the rest is left to be cleared when it is written.
  void prepare(std::span<const ByteCount> sizes, const std::function<bool()>& go_on);
  /// Memory for a block, if there is some of about that size; null if not. To be given back as that of new_large().
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
