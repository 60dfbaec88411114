// The layout of a snapshot in its block: see store/snapshot/snapshot.hpp.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/hash.hpp"
#include "store/snapshot/pages.hpp"
#include "store/snapshot/streaming_copy.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace mend::snapshot_format {

inline constexpr std::uint64_t magic = 0x32304e5344454e4dULL;  // "MNEDSN02"
inline constexpr ByteCount alignment = 64;

struct Header {
  std::uint64_t magic;
  std::uint64_t version;
  std::int64_t owner;
  std::uint64_t total_bytes;
  std::uint64_t member_count;
  std::uint64_t directory_bytes;
  std::uint64_t directory_hash;  // of the directory, the page hashes and their padding
  std::uint64_t header_hash;     // of everything before it
};

struct EntryHead {
  std::uint32_t name_bytes;
  std::uint32_t shape_bytes;
  std::uint64_t offset;
  std::uint64_t size;
};

inline ByteCount align(ByteCount offset) { return (offset + alignment - 1) / alignment * alignment; }

inline std::uint64_t hash_of_header(const Header& header) {
  return hash_of(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_hash)));
}

/// The positions of the parts of a snapshot.
struct Outline {
  ByteCount hashes_begin = 0;
  ByteCount data_begin = 0;

  Outline(ByteCount directory_bytes, std::size_t pages)
      : hashes_begin(align(sizeof(Header) + directory_bytes)),
        data_begin(align(hashes_begin + pages * sizeof(std::uint64_t))) {}
};

/// Returns the length of a member's entry in the directory.
inline ByteCount entry_bytes(std::string_view name, std::string_view shape) {
  return sizeof(EntryHead) + name.size() + shape.size();
}

/// Writes an entry at `at`. Returns the position of the next entry.
inline std::byte* write_entry(std::byte* at, std::string_view name, std::string_view shape, ByteCount offset,
                              ByteCount size) {
  const auto write = [&at](const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(at, from, bytes);
    at += bytes;
  };
  const EntryHead head{static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(shape.size()), offset, size};
  write(&head, sizeof head);
  write(name.data(), name.size());
  write(shape.data(), shape.size());
  return at;
}

/// Writes the header. Called last, when the directory and the page hashes are in their places.
inline void write_header(std::span<std::byte> block, const Outline& outline, Rank owner, Version version,
                         std::size_t members, ByteCount directory_bytes) {
  const auto hashed = block.subspan(sizeof(Header), outline.data_begin - sizeof(Header));
  Header header{magic, version.value, owner.value, block.size(), members, directory_bytes, hash_of(hashed), 0};
  header.header_hash = hash_of_header(header);
  std::memcpy(block.data(), &header, sizeof header);
}

/// Copies a page of a member that has `of` bytes.
inline void copy_page(std::span<const std::byte> from, std::span<std::byte> to, ByteCount of) {
  if (of >= beyond_caches) {
    copy_past_caches(from, to);
  } else if (!from.empty()) {
    std::memcpy(to.data(), from.data(), from.size());
  }
}

}  // namespace mend::snapshot_format
