#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace mend::replay {

/// Memory that is taken in pieces and given back as a whole. What was given back is taken again, so its pages are
/// there.
class LogMemory {
 public:
  /// `size` bytes, which stay where they are until clear().
  std::span<std::byte> take(std::size_t size);
  void clear();
  /// How many bytes are taken.
  std::size_t used() const { return used_; }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;  ///< the chunk from which is taken
  std::size_t offset_ = 0;   ///< in it
  std::size_t used_ = 0;
};

}  // namespace mend::replay
