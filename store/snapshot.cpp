#include "store/snapshot.hpp"

#include "base/error.hpp"
#include "store/hash.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string_view>

namespace mend {
namespace {

constexpr std::uint64_t magic = 0x31304e5344454e4dULL;  // "MNEDSN01"
constexpr ByteCount alignment = 64;

struct Header {
  std::uint64_t magic;
  std::uint64_t version;
  std::int64_t owner;
  std::uint64_t total_bytes;
  std::uint64_t member_count;
  std::uint64_t directory_bytes;
  std::uint64_t directory_hash;
  std::uint64_t header_hash;  // of everything before it
};

struct EntryHead {
  std::uint32_t name_bytes;
  std::uint32_t shape_bytes;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t hash;
};

struct Entry {
  std::string_view name;
  std::string_view shape;
  std::span<const std::byte> data;
  std::span<const std::byte> hashed;  ///< data and the zeros that fill it up
  std::uint64_t hash;
};

std::uint64_t hash_of_header(const Header& header) {
  return hash_of(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_hash)));
}

ByteCount align(ByteCount offset) { return (offset + alignment - 1) / alignment * alignment; }

template <class T>
void write_at(std::vector<std::byte>& bytes, ByteCount offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class T>
std::optional<T> read_at(std::span<const std::byte> bytes, ByteCount offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::span<const std::byte> bytes, ByteCount offset, ByteCount size) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

/// The directory, or nothing when header or directory are damaged.
std::optional<std::vector<Entry>> read_directory(std::span<const std::byte> bytes) {
  const auto header = read_at<Header>(bytes, 0);
  if (!header || header->magic != magic || header->header_hash != hash_of_header(*header)) return std::nullopt;
  if (header->total_bytes != bytes.size()) return std::nullopt;
  const ByteCount data_begin = align(sizeof(Header) + header->directory_bytes);
  if (data_begin < header->directory_bytes || data_begin > bytes.size()) return std::nullopt;
  if (hash_of(bytes.subspan(sizeof(Header), data_begin - sizeof(Header))) != header->directory_hash) return std::nullopt;
  const auto directory = bytes.subspan(sizeof(Header), header->directory_bytes);
  std::vector<Entry> entries;
  ByteCount at = 0;
  for (std::uint64_t i = 0; i < header->member_count; ++i) {
    const auto head = read_at<EntryHead>(directory, at);
    if (!head) return std::nullopt;
    at += sizeof(EntryHead);
    if (ByteCount{head->name_bytes} + head->shape_bytes > directory.size() - at) return std::nullopt;
    if (head->size > bytes.size() || head->offset > bytes.size() || align(head->size) > bytes.size() - head->offset) {
      return std::nullopt;
    }
    entries.push_back({text_at(directory, at, head->name_bytes), text_at(directory, at + head->name_bytes, head->shape_bytes),
                       bytes.subspan(head->offset, head->size), bytes.subspan(head->offset, align(head->size)), head->hash});
    at += head->name_bytes + head->shape_bytes;
  }
  return entries;
}

ByteCount directory_bytes_for(const Members& members) {
  ByteCount total = 0;
  for (const auto& [name, member] : members) total += sizeof(EntryHead) + name.size() + member->shape().size();
  return total;
}

}  // namespace

void pack(const Members& members, Rank owner, Version version, std::vector<std::byte>& bytes) {
  const ByteCount directory_bytes = directory_bytes_for(members);
  const ByteCount data_begin = align(sizeof(Header) + directory_bytes);
  ByteCount total = data_begin;
  std::vector<ByteCount> sizes;
  for (const auto& [name, member] : members) total += align(sizes.emplace_back(member->size()));
  bytes.resize(total);

  ByteCount directory_at = sizeof(Header);
  ByteCount data_at = data_begin;
  auto size = sizes.begin();
  for (const auto& [name, member] : members) {
    const std::string shape = member->shape();
    const std::span<std::byte> data(bytes.data() + data_at, *size++);
    member->pack(data);
    const ByteCount filled = align(data.size());
    std::memset(data.data() + data.size(), 0, filled - data.size());
    const EntryHead head{static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(shape.size()), data_at,
                         data.size(), hash_of(std::span<const std::byte>(bytes).subspan(data_at, filled))};
    write_at(bytes, directory_at, head);
    std::memcpy(bytes.data() + directory_at + sizeof head, name.data(), name.size());
    std::memcpy(bytes.data() + directory_at + sizeof head + name.size(), shape.data(), shape.size());
    directory_at += sizeof head + name.size() + shape.size();
    data_at += filled;
  }
  std::memset(bytes.data() + directory_at, 0, data_begin - directory_at);
  const auto directory = std::span<const std::byte>(bytes).subspan(sizeof(Header), data_begin - sizeof(Header));
  Header header{magic, version.value, owner.value, total, members.size(), directory_bytes, hash_of(directory), 0};
  header.header_hash = hash_of_header(header);
  write_at(bytes, 0, header);
}

std::optional<std::string> find_damage(std::span<const std::byte> snapshot, Rank owner, Version version) {
  const auto entries = read_directory(snapshot);
  if (!entries) return "its directory is corrupt";
  const auto header = *read_at<Header>(snapshot, 0);
  if (header.owner != owner.value || header.version != version.value) {
    return fmt::format("it is rank {}'s at version {}", header.owner, header.version);
  }
  for (const Entry& entry : *entries) {
    if (hash_of(entry.hashed) != entry.hash) return fmt::format("member '{}' is corrupt", entry.name);
  }
  return std::nullopt;
}

void unpack(std::span<const std::byte> snapshot, const Members& members) {
  const auto entries = read_directory(snapshot);
  if (!entries) throw DataLoss("a snapshot is corrupt");
  const auto header = *read_at<Header>(snapshot, 0);
  for (const auto& [name, member] : members) {
    const auto entry = std::find_if(entries->begin(), entries->end(), [&](const Entry& e) { return e.name == name; });
    if (entry == entries->end()) {
      throw UsageError(fmt::format("member '{}' is protected now but was not when version {} was committed: protect the "
                                   "same members before restore as before commit",
                                   name, header.version));
    }
    if (entry->shape != member->shape()) {
      throw UsageError(fmt::format("member '{}' is a {} but was committed as a {}: restore needs the same shape", name,
                                   member->shape(), entry->shape));
    }
    member->unpack(entry->data);
  }
}

}  // namespace mend
