#include "store/shelves.hpp"

#include "store/hash.hpp"
#include "store/snapshot.hpp"

#include <algorithm>

namespace mend {

std::uint64_t seal_of(const Block& parity, Version version, const Kept& kept) {
  std::vector<std::uint64_t> all{version.value, static_cast<std::uint64_t>(parity.row), hash_of(kept.bytes)};
  for (const Rank owner : parity.owners) all.push_back(static_cast<std::uint64_t>(owner.value));
  all.insert(all.end(), kept.sizes.begin(), kept.sizes.end());
  return hash_of(std::as_bytes(std::span(all)));
}

std::optional<std::string> find_damage(const Block& block, const Kept& kept) {
  if (block.is_snapshot()) return find_damage(kept.bytes, block.owners.front(), kept.version);
  if (seal_of(block, kept.version, kept) != kept.seal) return "it is corrupt";
  return std::nullopt;
}

Kept& Shelves::at(const Block& block, Version version) {
  auto& slots = shelves_[block];
  slots.resize(versions_);
  return slots[version.value % versions_];
}

Kept& Shelves::make_room(const Block& block, Version version, std::vector<ByteCount> sizes, ByteCount bytes) {
  Kept& kept = at(block, version);
  kept.version = Version{};  // the slot's old content ends here
  kept.sizes = std::move(sizes);
  kept.bytes.resize(bytes);
  return kept;
}

void Shelves::visit(const std::function<void(const Block&, Kept&)>& visit) {
  for (auto& [block, slots] : shelves_) {
    for (Kept& kept : slots) {
      if (kept.version != Version{}) visit(block, kept);
    }
  }
}

void Shelves::forget_old(Version newest) {
  std::erase_if(shelves_, [&](const auto& shelf) {
    return std::all_of(shelf.second.begin(), shelf.second.end(),
                       [&](const Kept& kept) { return kept.version.value + versions_ <= newest.value; });
  });
}

void Shelves::forget_newer(Version newest) {
  visit([&](const Block&, Kept& kept) {
    if (kept.version > newest) kept.version = Version{};
  });
}

ByteCount Shelves::memory() const {
  ByteCount bytes = 0;
  for (const auto& [block, slots] : shelves_) {
    for (const Kept& kept : slots) bytes += kept.bytes.capacity();
  }
  return bytes;
}

}  // namespace mend
