#include "replay/log_memory.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace mend::replay {

std::span<std::byte> LogMemory::take(std::size_t size) {
  constexpr std::size_t least = std::size_t{1} << 20;
  const std::size_t room = room_for(size);
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
  offset_ += room;
  used_ += size;
  taken_ += room;
  return piece;
}

bool LogMemory::Chunk::has_any(InUse in_use) const {
  return std::ranges::any_of(in_use, [this](const std::byte* piece) {
    return !std::less<>()(piece, bytes.get()) && std::less<>()(piece, bytes.get() + size);
  });
}

bool LogMemory::has_any(InUse in_use) const {
  const auto is_in_use = [&](const Chunk& chunk) { return chunk.has_any(in_use); };
  return std::ranges::any_of(chunks_, is_in_use) || std::ranges::any_of(left_alone_, is_in_use);
}

void LogMemory::clear(InUse in_use) {
  current_ = offset_ = used_ = taken_ = 0;
  if (in_use.empty() && left_alone_.empty()) return;
  std::ranges::move(std::exchange(left_alone_, {}), std::back_inserter(chunks_));
  const auto used = std::ranges::stable_partition(chunks_, [&](const Chunk& chunk) { return !chunk.has_any(in_use); });
  std::ranges::move(used, std::back_inserter(left_alone_));
  chunks_.erase(used.begin(), used.end());
}

}  // namespace mend::replay
