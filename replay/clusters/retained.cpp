#include "replay/clusters/retained.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mend::replay {

std::span<std::byte> Retained::take(std::size_t size) {
  const auto has_room = [&](const Piece& piece) { return piece.memory.taken() < piece_; };
  if (current_ == nullptr || !has_room(*current_)) {
    const auto free = std::ranges::find_if(pieces_, [](const Piece& piece) { return piece.memory.taken() == 0; });
    current_ = free == pieces_.end() ? &pieces_.emplace_back() : &*free;
  }
  return current_->memory.take(size);
}

void Retained::keep(const Channel& channel, std::uint64_t number, std::span<const std::byte> copy) {
  entries_[channel].push_back({number, order_++, copy, current_});
  ++current_->kept;
}

void Retained::received(const Channel& channel, std::uint64_t count) {
  const auto known = entries_.find(channel);
  if (known == entries_.end()) return;
  std::deque<Entry>& entries = known->second;
  for (; !entries.empty() && entries.front().number < count; entries.pop_front()) --entries.front().piece->kept;
  if (entries.empty()) entries_.erase(known);
}

void Retained::drop_all(InUse in_use) {
  entries_.clear();
  for (Piece& piece : pieces_) {
    piece.kept = 0;
    piece.memory.clear(in_use);
  }
}

void Retained::reuse(InUse in_use) {
  for (Piece& piece : pieces_)
    if (piece.kept == 0) piece.memory.clear(in_use);
}

std::vector<Resent> Retained::of(int peer) const {
  std::vector<std::pair<std::uint64_t, Resent>> found;
  const Channel first{peer, 0, std::numeric_limits<int>::min()};
  for (auto of = entries_.lower_bound(first); of != entries_.end() && of->first.peer == peer; ++of)
    for (const Entry& entry : of->second) found.emplace_back(entry.order, Resent{of->first, entry.bytes});
  std::ranges::sort(found, {}, &std::pair<std::uint64_t, Resent>::first);
  std::vector<Resent> all;
  all.reserve(found.size());
  for (const auto& [order, resent] : found) all.push_back(resent);
  return all;
}

std::size_t Retained::bytes() const {
  std::size_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.memory.taken();
  return sum;
}

}  // namespace mend::replay
