// The snapshot that the next commit of a data group takes, while members are stored into it.
//
//   | root | record | member 0      | member 1 | ...
//
// Each has a place with some room. Places stay from one commit to the next, so that what has not changed lies where it
// lay.
//
// A member of a page or more begins on a page (store/snapshot/pages.hpp). The record says what the snapshot is
// (fenix/data/snapshot/archive.hpp), and the root where the record lies.

#pragma once

#include "store/snapshot/snapshot_in_parts.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>

namespace mend::fenix {

/// Local, all of it.
class Image {
 public:
  /// Sizes of members, by number.
  using Sizes = std::map<int, std::size_t>;

  /// `begin` begins a snapshot of so many bytes.
  explicit Image(std::function<SnapshotInParts&(std::size_t bytes)> begin) : begin_(std::move(begin)) {}

  bool is_begun() const { return parts_ != nullptr; }
  /// Begins the next one, in which there is room for these members.
  void begin(const Sizes& members);
  /// It is committed, or given up.
  void end() { parts_ = nullptr; }
  /// The member has no place any more.
  void forget(int id) { places_.erase(id); }

  /// What the member has already stays.
  void make_room(int id, std::size_t bytes);
  void write(int id, std::size_t at, std::span<const std::byte> from);
  void clear(int id, std::size_t begin, std::size_t end);
  void write_record(std::span<const std::byte> record);
  std::size_t offset_of(int id) const { return places_.at(id).offset; }
  /// From this place in the snapshot on.
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

/// The record in a snapshot. Throws EnvironmentError when there is none.
std::span<const std::byte> record_in(std::span<const std::byte> image);

}  // namespace mend::fenix
