#include "store/snapshot/version_slots.hpp"

#include "base/assert.hpp"
#include "store/snapshot/hash.hpp"
#include "store/snapshot/snapshot.hpp"

#include <algorithm>
#include <utility>

namespace mend {

namespace {

std::uint64_t seal_of(const Block& parity, Version version, const Kept& kept) {
  std::vector<std::uint64_t> all{version.value, static_cast<std::uint64_t>(parity.row), kept.bytes.size()};
  for (const Rank owner : parity.owners) all.push_back(static_cast<std::uint64_t>(owner.value));
  all.insert(all.end(), kept.sizes.begin(), kept.sizes.end());
  all.insert(all.end(), kept.hashes.begin(), kept.hashes.end());
  return hash_of(std::as_bytes(std::span(all)));
}

std::uint64_t hash_of_page(const Kept& kept, std::size_t page) {
  return hash_of(page_of(std::span<const std::byte>(kept.bytes), page));
}

bool is_sound_parity(const Block& block, const Kept& kept) {
  if (kept.hashes.size() != page_count(kept.bytes.size()) || seal_of(block, kept.version, kept) != kept.seal)
    return false;
  for (std::size_t page = 0; page < kept.hashes.size(); ++page) {
    if (hash_of_page(kept, page) != kept.hashes[page]) return false;
  }
  return true;
}

}  // namespace

void seal(const Block& parity, Version version, std::span<const ByteRange> written, Kept& kept) {
  kept.hashes.resize(page_count(kept.bytes.size()));
  for (const ByteRange& range : written) {
    for (std::size_t page = range.begin / page_bytes; page < page_count(range.end); ++page)
      kept.hashes[page] = hash_of_page(kept, page);
  }
  kept.seal = seal_of(parity, version, kept);
}

std::optional<std::string> find_damage(const Block& block, const Kept& kept) {
  if (block.is_snapshot()) return find_damage(kept.bytes, block.owners.front(), kept.version);
  if (!is_sound_parity(block, kept)) return "it is corrupt";
  return std::nullopt;
}

Kept& VersionSlots::slot(const Block& block, Version version) {
  auto& slots = slots_of_versions_[block];
  slots.resize(versions_);
  return slots[version.value % versions_];
}

Kept& VersionSlots::at(const Block& block, Version version) {
  if (const auto of_version = aside_.find(version); of_version != aside_.end()) {
    if (const auto aside = of_version->second.find(block); aside != of_version->second.end()) return aside->second;
  }
  return slot(block, version);
}

Kept& VersionSlots::slot_for(const Block& block, Version version) {
  require(version != Version{} && !block.owners.empty(), "a slot is for a version of a rank's block");
  Kept& kept = slot(block, version);
  if (holds(kept.version)) aside_.at(kept.version).insert_or_assign(block, std::exchange(kept, {}));
  kept.version = Version{};
  return kept;
}

void VersionSlots::reserve(const Block& block, ByteCount bytes) {
  auto& slots = slots_of_versions_[block];
  slots.resize(versions_);
  for (Kept& kept : slots) {
    if (kept.version != Version{} || kept.bytes.capacity() >= bytes) continue;
    kept.bytes = Bytes();  // first, so that both need not be in memory at once
    kept.bytes.reserve(bytes);
  }
}

void VersionSlots::publish(const Block& block, Version version) {
  Kept& kept = at(block, version);
  require(kept.version == Version{} || kept.version == version, "a block is published where no other version of it is");
  kept.version = version;
}

Version VersionSlots::older_in_slot(const Block& block, Version version) {
  const Version there = slot(block, version).version;
  return there.value + versions_ == version.value && !holds(there) ? there : Version{};
}

void VersionSlots::let_go(Version version) {
  const auto of_version = aside_.extract(version);
  if (of_version.empty()) return;
  for (auto& [block, kept] : of_version.mapped()) {
    if (kept.version == Version{}) continue;
    Kept& there = slot(block, kept.version);
    if (there.version == Version{}) there = std::move(kept);
  }
}

void VersionSlots::visit(const std::function<void(const Block&, Kept&)>& visit) {
  for (auto& [block, slots] : slots_of_versions_) {
    for (Kept& kept : slots) {
      if (kept.version != Version{}) visit(block, kept);
    }
  }
  for (auto& [version, blocks] : aside_) {
    for (auto& [block, kept] : blocks) {
      if (kept.version != Version{}) visit(block, kept);
    }
  }
}

void VersionSlots::forget_old(Version newest) {
  std::erase_if(slots_of_versions_, [&](const auto& slots) {
    return std::all_of(slots.second.begin(), slots.second.end(), [&](const Kept& kept) {
      return kept.version.value + versions_ <= newest.value && !holds(kept.version);
    });
  });
}

void VersionSlots::forget_newer(Version newest) {
  visit([&](const Block&, Kept& kept) {
    if (kept.version > newest) kept.version = Version{};
  });
}

void VersionSlots::forget_older(Version oldest) {
  visit([&](const Block&, Kept& kept) {
    if (kept.version < oldest) kept.version = Version{};
  });
  forget_old(oldest);
}

ByteCount VersionSlots::memory() const {
  ByteCount bytes = 0;
  for (const auto& [block, slots] : slots_of_versions_) {
    for (const Kept& kept : slots) bytes += kept.bytes.capacity();
  }
  for (const auto& [version, blocks] : aside_) {
    for (const auto& [block, kept] : blocks) bytes += kept.bytes.capacity();
  }
  return bytes;
}

std::vector<ByteCount> VersionSlots::sizes(Version version) const {
  std::vector<ByteCount> all;
  for (const auto& [block, slots] : slots_of_versions_) {
    for (const Kept& kept : slots) {
      if (kept.version == version) all.push_back(kept.bytes.size());
    }
  }
  return all;
}

}  // namespace mend
