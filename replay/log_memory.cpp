#include "replay/log_memory.hpp"

#include <algorithm>

namespace mend::replay {

std::span<std::byte> LogMemory::take(std::size_t size) {
  constexpr std::size_t least = std::size_t{1} << 20;
  constexpr std::size_t alignment = 16;
  const std::size_t room = std::max(size, std::size_t{1});  // no two pieces begin at the same place
  while (current_ < chunks_.size() && chunks_[current_].size - offset_ < room) {
    ++current_;
    offset_ = 0;
  }
  if (current_ == chunks_.size()) {
    const std::size_t length = std::max(room, least);
    chunks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[length]), length});  // does not touch its pages
  }
  Chunk& chunk = chunks_[current_];
  const std::span<std::byte> piece(chunk.bytes.get() + offset_, size);
  offset_ = std::min(chunk.size, (offset_ + room + alignment - 1) / alignment * alignment);
  used_ += size;
  return piece;
}

void LogMemory::clear() { current_ = offset_ = used_ = 0; }

}  // namespace mend::replay
