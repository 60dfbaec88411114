#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace mend::replay {

/// Where the pieces begin that MPI still sends from.
using InUse = std::span<const std::byte* const>;

/// Memory that is taken in pieces and returned as a whole. Returned memory is reused, so its pages are already mapped.
class LogMemory {
 public:
  /// Returns `size` bytes, which are not moved until clear(). No two pieces begin at the same place, even if they are
  /// empty.
  std::span<std::byte> take(std::size_t size);
  /// Returns all pieces. The memory around those in use is left alone until a later clear().
  void clear(InUse in_use = {});
  /// Returns true if a piece in use is in this memory.
  bool has_any(InUse in_use) const;
  /// Returns the sum of the sizes of all pieces.
  std::size_t used() const { return used_; }
  /// Returns how many bytes of memory the pieces take.
  std::size_t taken() const { return taken_; }
  /// Returns how many bytes of memory a piece of `size` bytes takes.
  static constexpr std::size_t room_for(std::size_t size) {
    return (std::max(size, std::size_t{1}) + alignment - 1) / alignment * alignment;
  }

 private:
  static constexpr std::size_t alignment = 16;

  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    bool has_any(InUse in_use) const;
  };

  std::vector<Chunk> chunks_;
  std::vector<Chunk> left_alone_;
  std::size_t current_ = 0;  ///< the chunk that pieces are taken from
  std::size_t offset_ = 0;   ///< the offset in that chunk
  std::size_t used_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace mend::replay
