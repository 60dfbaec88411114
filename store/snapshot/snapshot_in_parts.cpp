#include "store/snapshot/snapshot_in_parts.hpp"

#include "base/assert.hpp"
#include "store/snapshot/snapshot_format.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mend {

using namespace snapshot_format;

SnapshotInParts::SnapshotInParts(std::string name, std::string shape, ByteCount bytes, Bytes& snapshot, bool over_older)
    : name_(std::move(name)), shape_(std::move(shape)), snapshot_(snapshot) {
  const ByteCount size = align(bytes);
  const Outline outline(entry_bytes(name_, shape_), page_count(size));
  std::vector<std::byte> directory(outline.hashes_begin - sizeof(Header));
  write_entry(directory.data(), name_, shape_, outline.data_begin, size);
  everything_ = !(over_older && snapshot_.size() == outline.data_begin + size &&
                  std::memcmp(snapshot_.data() + sizeof(Header), directory.data(), directory.size()) == 0 &&
                  has_sound_directory(snapshot_));
  resize_block(snapshot_, outline.data_begin + size);
  std::memcpy(snapshot_.data() + sizeof(Header), directory.data(), directory.size());
  data_begin_ = outline.data_begin;
  pages_.assign(page_count(size), everything_ ? Page::written : Page::hashed);
  hashes_.assign(pages_.size(), 0);
  changed_.assign(pages_.size(), false);
  touched_.assign(pages_.size(), false);
  if (!everything_ && !hashes_.empty())
    std::memcpy(hashes_.data(), snapshot_.data() + outline.hashes_begin, hashes_.size() * sizeof hashes_.front());
}

void SnapshotInParts::resize(ByteCount bytes) {
  const Bytes before = std::exchange(snapshot_, {});
  const std::span old = std::span(before).subspan(data_begin_);
  const std::vector<Page> old_pages = std::move(pages_);
  const std::vector<std::uint64_t> old_hashes = std::move(hashes_);
  const SnapshotInParts other(name_, shape_, bytes, snapshot_, false);
  data_begin_ = other.data_begin_;
  pages_ = other.pages_;
  hashes_ = other.hashes_;
  changed_ = other.changed_;
  touched_.resize(pages_.size());
  everything_ = has_older_pages_ = true;
  const std::span fresh = data();
  const ByteCount kept = std::min(old.size(), fresh.size());
  if (kept > 0) std::memcpy(fresh.data(), old.data(), kept);
  for (std::size_t page = 0; page < kept / page_bytes; ++page) {  // new hashes would hide damage
    pages_[page] = old_pages[page];
    hashes_[page] = old_hashes[page];
  }
}

void SnapshotInParts::write(ByteCount at, std::span<const std::byte> from) {
  const std::span<std::byte> place = data();
  require(at <= place.size() && from.size() <= place.size() - at, "a part of a snapshot lies in it");
  const ByteCount of = from.size();
  while (!from.empty()) {
    const std::size_t page = at / page_bytes;
    const std::span<std::byte> whole = page_of(place, page);
    const ByteCount begin = at - page * page_bytes;
    const ByteCount length = std::min(from.size(), whole.size() - begin);
    if (length == whole.size()) {
      write_page(page, from.first(length), of);
    } else {
      const bool stays_damaged = is_damaged(page);
      std::memcpy(whole.data() + begin, from.data(), length);
      if (stays_damaged) {
        has_older_pages_ = changed_[page] = true;  // so that the commit checks the page, and is refused
      } else {
        pages_[page] = Page::written;
      }
    }
    touched_[page] = true;
    at += length;
    from = from.subspan(length);
  }
}

/// Returns true if the page was hashed for this snapshot, when it was written whole or by a commit that was refused,
/// and differs from its hash. It is not hashed again then, because its new hash would hide the damage.
bool SnapshotInParts::is_damaged(std::size_t page) const {
  const bool is_hashed = pages_[page] == Page::hashed && (is_finished_ || touched_[page]);
  return is_hashed && hash_of(page_of(data(), page)) != hashes_[page];
}

/// A changed page is copied out of the cache into which hashing has brought it.
void SnapshotInParts::write_page(std::size_t page, std::span<const std::byte> from, ByteCount of) {
  const std::uint64_t hash = hash_of(from);
  if (!is_finished_ && pages_[page] == Page::hashed && hashes_[page] == hash) return;
  copy_page(from, page_of(data(), page), of);
  pages_[page] = Page::hashed;
  hashes_[page] = hash;
  changed_[page] = true;
}

void SnapshotInParts::clear(ByteRange range) {
  static constexpr std::byte zeros[4096]{};
  for (ByteCount at = range.begin; at < range.end; at += sizeof zeros)
    write(at, std::span(zeros).first(std::min<ByteCount>(sizeof zeros, range.end - at)));
}

Changes SnapshotInParts::finish(Rank owner, Version version) {
  const std::span<std::byte> place = data();
  if (std::exchange(is_finished_, true)) everything_ = has_older_pages_ = true;
  Changes changes{everything_, {}, {0}};
  add_range(changes.ranges, {0, data_begin_});
  for (std::size_t page = 0; page < pages_.size(); ++page) {
    const std::span<std::byte> bytes = page_of(place, page);
    if (has_older_pages_ && !touched_[page]) pages_[page] = Page::written;  // its bytes may have any value
    if (std::exchange(pages_[page], Page::hashed) == Page::written) {
      const std::uint64_t hash = hash_of(bytes);
      if (std::exchange(hashes_[page], hash) != hash) changed_[page] = true;
    }
    if (!everything_ && !changed_[page]) continue;
    const ByteCount begin = data_begin_ + page * page_bytes;
    add_range(changes.ranges, {begin, begin + bytes.size()});
    changes.of_members.front() += bytes.size();
  }
  const ByteCount directory_bytes = entry_bytes(name_, shape_);
  const Outline outline(directory_bytes, pages_.size());
  const ByteCount hash_bytes = outline.data_begin - outline.hashes_begin;
  std::memset(snapshot_.data() + outline.hashes_begin, 0, hash_bytes);
  if (!hashes_.empty())
    std::memcpy(snapshot_.data() + outline.hashes_begin, hashes_.data(), hashes_.size() * sizeof hashes_.front());
  write_header(snapshot_, outline, owner, version, 1, directory_bytes);
  return changes;
}

}  // namespace mend
