// A snapshot of one member that is packed part by part, before the commit that takes it.
//
// A commit packs members out of the application's memory. If data arrives before the commit (Fenix_Data_member_store),
// it must be copied before the caller continues. A separate copy would be copied again into the version slot at the
// commit. So the copy is made directly in the slot:
//
//   write(0, u)     write(8192, part of v)       write(8192, another part)          the commit: finish()
//   |uuuuuuuuuuuu|  |uuuuuuuuuuuu|..vvv.....|    |uuuuuuuuuuuu|..vvv..vv.|          directory, hashes, header
//
// Pages that are written whole are hashed before they are copied, and not copied if the older snapshot in the slot has
// them already. Others are hashed at the end. Bytes that are not written are those of the older snapshot, or have any
// value.
//
// A commit is refused if a page that was not copied is damaged in memory. What is written after that is copied in any
// case, and a damaged page is sound again when it has been written whole.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/bytes.hpp"
#include "store/snapshot/snapshot.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mend {

class SnapshotInParts {
 public:
  /// Packs a member of `bytes` into `snapshot`, which must outlive this. `over_older`: as for Pack. `bytes` is rounded
  /// up to whole cache lines. Local.
  SnapshotInParts(std::string name, std::string shape, ByteCount bytes, Bytes& snapshot, bool over_older);

  /// Returns the member, as far as it has been written. Valid until resize().
  std::span<std::byte> data() const { return std::span(snapshot_).subspan(data_begin_); }

  /// Gives the member another size. Bytes that were written stay, as far as they fit; all of them count as changed.
  /// Local.
  void resize(ByteCount bytes);

  /// Copies `from` to this place in the member, in which it must lie. Local.
  void write(ByteCount at, std::span<const std::byte> from);
  /// Writes zeros.
  void clear(ByteRange range);

  /// Completes the snapshot, and returns its changes. When it is called again, because a commit was refused, everything
  /// counts as changed. Local.
  Changes finish(Rank owner, Version version);
  /// Returns true if a commit must check all pages that it uses: some may be as they were packed for an older version
  /// although everything counts as changed, or were found to be damaged.
  bool has_older_pages() const { return has_older_pages_; }

 private:
  enum class Page : std::uint8_t { hashed, written };

  bool is_damaged(std::size_t page) const;
  void write_page(std::size_t page, std::span<const std::byte> from, ByteCount of);

  std::string name_;
  std::string shape_;
  Bytes& snapshot_;
  ByteCount data_begin_ = 0;
  std::vector<Page> pages_;
  std::vector<std::uint64_t> hashes_;  // of pages that are hashed, and of others as they were before
  std::vector<bool> changed_;
  std::vector<bool> touched_;  // something was written there, perhaps what was there already
  bool everything_ = true;
  bool is_finished_ = false;
  bool has_older_pages_ = false;
};

}  // namespace mend
