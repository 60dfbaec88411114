// The snapshot that the next commit of a data group takes, while members are stored into it.
//
//   | root | record | member 0      | member 1 | ...
//
// Each member has a place with some room. Places are the same from one commit to the next, so that unchanged data has
// the same offset.
//
// A member of a page or more begins on a page (store/snapshot/pages.hpp). The record describes the snapshot
// (fenix/data/snapshot/archive.hpp), and the root has the offset of the record.

#pragma once

#include "store/snapshot/snapshot_in_parts.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>

namespace mend::fenix {

/// All functions are local.
class Image {
 public:
  /// Sizes of members, by number.
  using Sizes = std::map<int, std::size_t>;

  /// `begin` begins a snapshot of so many bytes.
  explicit Image(std::function<SnapshotInParts&(std::size_t bytes)> begin) : begin_(std::move(begin)) {}

  bool is_begun() const { return parts_ != nullptr; }
  /// Begins the next snapshot, with room for these members.
  void begin(const Sizes& members);
  /// Ends the snapshot, which was committed or given up.
  void end() { parts_ = nullptr; }
  /// Removes the place of the member.
  void forget(int id) { places_.erase(id); }

  /// Makes room for `bytes` bytes of the member, and keeps the bytes that it has.
  void make_room(int id, std::size_t bytes);
  void write(int id, std::size_t at, std::span<const std::byte> from);
  void clear(int id, std::size_t begin, std::size_t end);
  void write_record(std::span<const std::byte> record);
  std::size_t offset_of(int id) const { return places_.at(id).offset; }
  /// Returns the `bytes` bytes of the snapshot from `offset` on.
  std::span<const std::byte> at(std::size_t offset, std::size_t bytes) const;

 private:
  struct Place {
    std::size_t offset;
    std::size_t room;
  };

  bool fits(const Sizes& members) const;
  Place new_place(std::size_t room);

  std::function<SnapshotInParts&(std::size_t)> begin_;
  SnapshotInParts* parts_ = nullptr;  // while one is begun
  std::map<int, Place> places_;
  std::size_t end_ = 0;
};

/// Returns the record in a snapshot. Throws EnvironmentError if there is none.
std::span<const std::byte> record_in(std::span<const std::byte> image);

}  // namespace mend::fenix
